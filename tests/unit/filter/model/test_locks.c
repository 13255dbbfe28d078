/* SPDX-License-Identifier: MIT */
/* test_locks.c - waits for locks by where they were made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/locks.h"

static struct process process;
static struct code a = {
	.file = (char *)"a.py", .qualname = (char *)"f", .firstlineno = 10, .id = 1, .process = &process
};
static struct code b = {
	.file = (char *)"b.py", .qualname = (char *)"g", .firstlineno = 1, .id = 2, .process = &process
};

static void test_locks(void **state)
{
	struct locks l = { 0 };
	const struct lock **all;
	size_t n;

	(void)state;
	assert_int_equal(locks_add(&l, &a, 0, 5), 0);
	assert_int_equal(locks_add(&l, &a, 3, 50), 0);
	assert_int_equal(locks_add(&l, &b, 0xffff, 30), 0);
	assert_int_equal(locks_add(&l, &b, 0xffff, 40), 0);
	all = locks_ranked(&l, &n);
	assert_non_null(all);
	assert_int_equal(n, 3);
	assert_ptr_equal(all[0]->code, &b);
	assert_int_equal(all[0]->line, 65536);
	assert_int_equal(all[0]->waited.n, 2);
	assert_int_equal(all[0]->waited.ns, 70);
	assert_int_equal(all[0]->waited.longest_ns, 40);
	assert_int_equal(all[1]->line, 13);
	assert_int_equal(all[2]->line, 10);
	free(all);
	locks_free(&l);
}

static void test_none(void **state)
{
	struct locks l = { 0 };
	size_t n;
	const struct lock **all = locks_ranked(&l, &n);

	(void)state;
	assert_non_null(all);
	assert_int_equal(n, 0);
	free(all);
	locks_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_locks), cmocka_unit_test(test_none) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
