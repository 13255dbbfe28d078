/* SPDX-License-Identifier: MIT */
/* test_stalls.c - what threads waited for, newest first, each thread's own; the oldest are forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/stalls.h"

static void add(struct stalls *s, int32_t pid, int32_t tid, uint64_t until)
{
	const struct stall one = { .kind = WAIT_FOR_LOCK, .from_ns = until - 1, .until_ns = until, .before = 77 };

	assert_int_equal(stalls_add(s, pid, tid, one), 0);
}

static void has(const struct stalls *s, int32_t pid, int32_t tid, const uint64_t *until, size_t n)
{
	const struct stall *at = stalls_newest(s, pid, tid);

	for (size_t i = 0; i < n; i++, at = stalls_before(s, at)) {
		assert_non_null(at);
		assert_int_equal(at->until_ns, until[i]);
	}
	assert_null(at);
}

static void test_threads(void **state)
{
	struct stalls s = { 0 };

	(void)state;
	has(&s, 1, 1, NULL, 0);
	add(&s, 1, 1, 10);
	add(&s, 1, 2, 20);
	add(&s, 1, 1, 30);
	add(&s, 2, 1, 40);
	has(&s, 1, 1, (const uint64_t[]){ 30, 10 }, 2);
	has(&s, 1, 2, (const uint64_t[]){ 20 }, 1);
	has(&s, 2, 1, (const uint64_t[]){ 40 }, 1);
	has(&s, 2, 2, NULL, 0);
	stalls_free(&s);
	has(&s, 1, 1, NULL, 0);
}

static void test_oldest(void **state)
{
	struct stalls s = { 0 };

	(void)state;
	add(&s, 1, 1, 10);
	add(&s, 1, 2, 20);
	add(&s, 1, 1, 30);
	for (uint64_t n = 0; n < STALLS_KEPT - 2; n++)
		add(&s, 3, 3, 100 + n);
	has(&s, 1, 1, (const uint64_t[]){ 30 }, 1);
	has(&s, 1, 2, (const uint64_t[]){ 20 }, 1);
	assert_int_equal(s.forgotten_ns, 10);
	add(&s, 3, 3, 90000);
	assert_int_equal(s.forgotten_ns, 20);
	has(&s, 1, 2, NULL, 0);
	for (uint64_t n = 0; n < 3ull * STALLS_KEPT; n++)
		add(&s, 1, 2, 100000 + n);
	has(&s, 1, 1, NULL, 0);
	has(&s, 3, 3, NULL, 0);
	assert_int_equal(stalls_newest(&s, 1, 2)->until_ns, 100000 + 3ull * STALLS_KEPT - 1);
	stalls_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads), cmocka_unit_test(test_oldest) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
