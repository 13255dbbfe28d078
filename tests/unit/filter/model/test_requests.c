/* SPDX-License-Identifier: MIT */
/* test_requests.c - requests that overlap, recur at an address, never end; only the slowest keep their paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_totals), cmocka_unit_test(test_slowest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
