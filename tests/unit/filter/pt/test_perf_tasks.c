// SPDX-License-Identifier: MIT
/* test_perf_tasks.c - the process of a tid, by perf's rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <cmocka.h>

#include "pt/perf_tasks.h"

static void test_first_name_holds(void **state)
{
	struct tasks t;

	(void)state;
	assert_int_equal(tasks_init(&t), 0);
	assert_null(tasks_find(&t, 7));
	assert_int_equal(tasks_name(&t, -1, 7)->pid, -1);
	assert_int_equal(tasks_name(&t, 5, 7)->pid, 5);
	assert_int_equal(tasks_name(&t, 6, 7)->pid, 5);
	tasks_free(&t);
}

static void test_fork(void **state)
{
	struct task *old;
	struct tasks t;

	(void)state;
	tasks_init(&t);
	old = tasks_name(&t, 5, 7);
	old->cycles = 99;
	assert_int_equal(tasks_fork(&t, 8, 7, 4, 4), 0); /* the tid is used again */
	assert_ptr_not_equal(tasks_find(&t, 7), old);
	assert_int_equal(tasks_find(&t, 7)->pid, 8);
	assert_int_equal(tasks_find(&t, 7)->cycles, 99);
	assert_int_equal(old->pid, 5); /* whoever holds it keeps it */
	assert_int_equal(tasks_find(&t, 4)->pid, 4);
	assert_int_equal(tasks_fork(&t, 9, 9, 3, 4), 0); /* so 4 was another's */
	assert_int_equal(tasks_find(&t, 4)->pid, 3);
	tasks_free(&t);
}

static void test_cpus(void **state)
{
	struct tasks t;

	(void)state;
	tasks_init(&t);
	assert_int_equal(tasks_running(&t, 3), -1);
	assert_int_equal(tasks_running(&t, -1), -1);
	assert_int_equal(tasks_run(&t, 3, 5, 7), 0);
	assert_int_equal(tasks_running(&t, 3), 7);
	assert_int_equal(tasks_running(&t, 2), -1);
	assert_int_equal(tasks_find(&t, 7)->pid, 5);
	assert_int_equal(tasks_run(&t, 3, 0, 0), 0);
	assert_int_equal(tasks_running(&t, 3), 0);
	assert_int_equal(tasks_run(&t, -1, 5, 7), -EINVAL);
	tasks_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_name_holds),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
