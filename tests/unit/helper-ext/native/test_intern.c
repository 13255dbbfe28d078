/* SPDX-License-Identifier: MIT */
/* test_intern.c - the same bytes have the same number, others another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "native/intern.h"

static void test_numbers_are_in_order_of_appearance(void **state)
{
	struct intern t = { 0 };
	bool new;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(intern(&t, &i, sizeof(i), &new), i + 1);
		assert_true(new);
	}
	for (uint32_t i = 0; i < 10000; i++) {
		assert_int_equal(intern(&t, &i, sizeof(i), &new), i + 1);
		assert_false(new);
	}
	intern_free(&t);
}

static void test_a_beginning_is_something_else(void **state)
{
	struct intern t = { 0 };
	bool new;

	(void)state;
	assert_int_equal(intern(&t, "abc", 3, &new), 1);
	assert_int_equal(intern(&t, "abc", 2, &new), 2);
	assert_int_equal(intern(&t, "", 0, &new), 3);
	assert_int_equal(intern(&t, "abc", 3, &new), 1);
	intern_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_in_order_of_appearance),
		cmocka_unit_test(test_a_beginning_is_something_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
