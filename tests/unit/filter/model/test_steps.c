/* SPDX-License-Identifier: MIT */
/* test_steps.c - steps by their numbers, the oldest of which are forgotten; names of tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/steps.h"

static void test_numbers(void **state)
{
	struct steps s = { 0 };
	uint64_t many = STEPS_KEPT + 10ull;

	(void)state;
	assert_null(steps_get(&s, 0));
	assert_null(steps_get(&s, 1));
	for (uint64_t n = 1; n <= many; n++)
		assert_int_equal(steps_add(&s, &(struct step){ .begun_ns = 100 + n }), n);
	assert_null(steps_get(&s, 0));
	assert_null(steps_get(&s, 10));
	assert_null(steps_get(&s, many + 1));
	for (uint64_t n = 11; n <= many; n++)
		assert_int_equal(steps_get(&s, n)->begun_ns, 100 + n);
	steps_free(&s);
	assert_null(steps_get(&s, 11));
}

static void test_called(void **state)
{
	static struct code code = { .qualname = (char *)"worker" };
	char text[CALLED_TEXT];

	(void)state;
	assert_string_equal(called_text(&(struct called){ 0 }, text), "");
	assert_string_equal(called_text(&(struct called){ .number = 12 }, text), "Task-12");
	assert_string_equal(called_text(&(struct called){ .name = &code }, text), "worker");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_called) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
