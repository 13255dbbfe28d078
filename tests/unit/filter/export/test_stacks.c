/* SPDX-License-Identifier: MIT */
/* test_stacks.c - a path is there once, its caller before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/stacks.h"

static void test_numbers(void **state)
{
	struct stacks s = { 0 };

	(void)state;
	assert_int_equal(stacks_number(&s, STACKS_NONE, 7), 0);
	assert_int_equal(stacks_number(&s, 0, 7), 1);
	assert_int_equal(stacks_number(&s, 0, 8), 2);
	assert_int_equal(stacks_number(&s, STACKS_NONE, 8), 3);
	assert_int_equal(stacks_number(&s, 0, 7), 1);
	assert_int_equal(stacks_number(&s, STACKS_NONE, 7), 0);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.of[2].caller, 0);
	assert_int_equal(s.of[2].frame, 8);
	stacks_free(&s);
	assert_int_equal(s.n, 0);
}

/* 5,000 frames deep, and as many beside each other. */
static void test_many(void **state)
{
	enum { MANY = 5000 };
	struct stacks s = { 0 };

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(stacks_number(&s, i ? i - 1 : STACKS_NONE, 1), i);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(stacks_number(&s, 0, 2 + i), MANY + i);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(stacks_number(&s, i ? i - 1 : STACKS_NONE, 1), i);
	stacks_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
