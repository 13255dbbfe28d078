/* SPDX-License-Identifier: MIT */
/* test_requests.c - requests that overlap, recur at an address, never end; only the slowest keep their paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/requests.h"

static struct code get = { .qualname = (char *)"GET" }, same = { .qualname = (char *)"GET" };
static struct code post = { .qualname = (char *)"POST" };
static const struct called gets = { .name = &get }, others = { .name = &same }, posts = { .name = &post };

static void test_totals(void **state)
{
	struct requests r = { 0 };
	struct steps s = { 0 };
	const struct request_total **all;
	size_t n;

	(void)state;
	assert_int_equal(requests_end(&r, 1, 7, 5, &s, 0), 0); /* began before the trace */
	assert_int_equal(requests_begin(&r, 1, 7, &gets, 10), 0);
	assert_int_equal(requests_begin(&r, 1, 8, &posts, 20), 0);
	assert_int_equal(requests_begin(&r, 2, 7, &others, 30), 0);
	assert_int_equal(requests_end(&r, 1, 7, 110, &s, 0), 0);
	assert_int_equal(requests_end(&r, 1, 7, 120, &s, 0), 0); /* it has ended */
	assert_int_equal(requests_end(&r, 2, 7, 80, &s, 0), 0);
	assert_int_equal(requests_begin(&r, 1, 8, &gets, 200), 0); /* the end of the one before was not seen */
	assert_int_equal(requests_finish(&r), 0);
	all = requests_ranked(&r, &n);
	assert_int_equal(n, 2);
	assert_int_equal(all[0]->n, 2);
	assert_int_equal(all[0]->ns, 100 + 50);
	assert_int_equal(all[0]->longest_ns, 100);
	assert_int_equal(all[0]->longest, 1);
	assert_int_equal(all[0]->by_kind[CRITICAL_UNKNOWN], 100 + 50);
	assert_int_equal(all[0]->unfinished, 1);
	assert_int_equal(all[1]->n, 0);
	assert_int_equal(all[1]->unfinished, 1);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.slowest[0]->number, 1);
	assert_int_equal(r.slowest[1]->number, 3);
	free(all);
	requests_free(&r);
}

/* In any order: those kept are the slowest, slowest first. */
static void test_slowest(void **state)
{
	struct requests r = { 0 };
	struct steps s = { 0 };
	unsigned int many = 3 * REQUESTS_KEPT;

	(void)state;
	for (unsigned int i = 0; i < many; i++) {
		uint64_t ns = 1 + i * 7 % many; /* 7 and many have no common factor */

		assert_int_equal(requests_begin(&r, 1, 5, &gets, 1000), 0);
		assert_int_equal(requests_end(&r, 1, 5, 1000 + ns, &s, 0), 0);
	}
	assert_int_equal(r.n, REQUESTS_KEPT);
	for (size_t i = 0; i < r.n; i++) {
		assert_int_equal(r.slowest[i]->ended_ns - r.slowest[i]->begun_ns, many - i);
		assert_int_equal(r.slowest[i]->path.n, 1);
		assert_int_equal(r.slowest[i]->path.pieces[0].ns, many - i);
	}
	requests_free(&r);
}

/* Names of any length are told apart by all of it, and found by it. */
static void test_long_names(void **state)
{
	static char texts[2][1000];
	struct code codes[2] = { { .qualname = texts[0] }, { .qualname = texts[1] } };
	struct requests r = { .wanted = texts[1] };
	struct steps s = { 0 };
	const struct request_total **all;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		const struct called called = { .name = &codes[i] };

		memset(texts[i], 'x', sizeof(texts[i]) - 1);
		texts[i][sizeof(texts[i]) - 2] = (char)('0' + i);
		assert_int_equal(requests_begin(&r, 1, 5, &called, 1000), 0);
		assert_int_equal(requests_end(&r, 1, 5, 1007, &s, 0), 0);
	}
	all = requests_ranked(&r, &n);
	assert_int_equal(n, 2);
	assert_non_null(r.found);
	assert_int_equal(r.found->number, 2);
	free(all);
	requests_free(&r);
}

static void run_one(struct requests *r, const struct called *called, uint64_t ns)
{
	struct steps s = { 0 };

	assert_int_equal(requests_begin(r, 1, 5, called, 1000), 0);
	assert_int_equal(requests_end(r, 1, 5, 1000 + ns, &s, 0), 0);
}

/* Three short ones, of two names, then many that are longer: number and length of the wanted one. */
static void check_wanted(const char *wanted, uint64_t number, uint64_t ns)
{
	struct requests r = { .wanted = wanted };

	run_one(&r, &gets, 2);
	run_one(&r, &gets, 7);
	run_one(&r, &others, 7);
	for (unsigned int i = 0; i < 2 * REQUESTS_KEPT; i++)
		run_one(&r, &posts, 100);
	assert_int_equal(r.slowest[r.n - 1]->ended_ns - r.slowest[r.n - 1]->begun_ns, 100);
	if (number) {
		assert_int_equal(r.found->number, number);
		assert_int_equal(r.found->ended_ns - r.found->begun_ns, ns);
		assert_int_equal(r.found->path.pieces[0].ns, ns);
	} else {
		assert_null(r.found);
	}
	requests_free(&r);
}

static void test_wanted(void **state)
{
	(void)state;
	check_wanted("GET", 2, 7); /* of two that took as long the first */
	check_wanted("POST", 4, 100);
	check_wanted("1", 1, 2);
	check_wanted("200", 200, 100);
	check_wanted("1000", 0, 0);
	check_wanted("PUT", 0, 0);
	check_wanted(NULL, 0, 0);
}

/* A number is one, whatever has that name, and whichever came first. */
static void test_numbers_come_first(void **state)
{
	struct code three = { .qualname = (char *)"3" };
	const struct called threes = { .name = &three };
	struct requests r = { .wanted = "3" };

	(void)state;
	run_one(&r, &threes, 50);
	assert_int_equal(r.found->number, 1);
	run_one(&r, &threes, 60);
	assert_int_equal(r.found->number, 2);
	run_one(&r, &gets, 5);
	assert_int_equal(r.found->number, 3);
	run_one(&r, &threes, 70);
	assert_int_equal(r.found->number, 3);
	requests_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_totals), cmocka_unit_test(test_slowest),
					    cmocka_unit_test(test_wanted), cmocka_unit_test(test_long_names),
					    cmocka_unit_test(test_numbers_come_first) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
