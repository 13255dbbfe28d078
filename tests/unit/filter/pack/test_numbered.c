/* SPDX-License-Identifier: MIT */
/* test_numbered.c - a number stands for an event word from where it was given to the end of the chunk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pack/numbered.h"
#include "shared/marker.h"

static struct numbered *n;

static uint64_t line(uint32_t code)
{
	return marker_event(OP_LINE, 0, code, 9, 0);
}

static void give(uint64_t number, uint64_t word)
{
	numbered_meet(n, marker_extension(0, KIND_NUMBER, number));
	numbered_meet(n, word);
}

static int make(void **state)
{
	(void)state;
	n = calloc(1, sizeof(*n));
	if (n)
		numbered_begin(n);
	return n ? 0 : -1;
}

static int drop(void **state)
{
	(void)state;
	free(n);
	return 0;
}

static void test_given(void **state)
{
	(void)state;
	assert_int_equal(numbered_of(n, line(1)), 0);
	assert_int_equal(numbered_word(n, 7), 0);
	assert_int_equal(numbered_of(n, 0), 0);
	give(7, line(1));
	assert_int_equal(numbered_of(n, line(1)), 7);
	assert_int_equal(numbered_word(n, 7), line(1));
	assert_int_equal(numbered_of(n, line(2)), 0);
	numbered_begin(n);
	assert_int_equal(numbered_of(n, line(1)), 0);
	assert_int_equal(numbered_word(n, 7), 0);
}

/* A CALL with the callee of its number is a C_CALL. */
static void test_calls_of_c(void **state)
{
	uint64_t call = marker_event(OP_CALL, 0, 3, 4, 0), c_call = marker_c_call(0, 2, 3, 4);

	(void)state;
	numbered_meet(n, marker_number_of(7, 2));
	numbered_meet(n, call);
	assert_int_equal(numbered_of(n, c_call), 7);
	assert_int_equal(numbered_word(n, 7), c_call);
	assert_int_equal(numbered_of(n, call), 0);
	give(8, call);
	assert_int_equal(numbered_of(n, call), 8);
}

/* Only the event word right behind it has the number, and only a number that there can be. */
static void test_not_given(void **state)
{
	(void)state;
	numbered_meet(n, marker_extension(0, KIND_NUMBER, 7));
	numbered_meet(n, marker_extension(0, KIND_CPU, 3));
	numbered_meet(n, line(1));
	give(MARKER_NUMBER_MAX + 1ull, line(2));
	numbered_meet(n, marker_extension(0, KIND_NUMBER, 8));
	numbered_begin(n);
	numbered_meet(n, line(3));
	for (uint32_t code = 1; code <= 3; code++)
		assert_int_equal(numbered_of(n, line(code)), 0);
}

/* The last ones that were given. */
static void test_given_again(void **state)
{
	(void)state;
	give(7, line(1));
	give(7, line(2));
	give(8, line(1));
	assert_int_equal(numbered_of(n, line(1)), 8);
	assert_int_equal(numbered_of(n, line(2)), 7);
	assert_int_equal(numbered_word(n, 7), line(2));
	assert_int_equal(numbered_word(n, 8), line(1));
}

/* The first ones of a chunk have one, whatever slots they want. */
static void test_many(void **state)
{
	(void)state;
	for (int chunk = 0; chunk < 3; chunk++, numbered_begin(n)) {
		for (uint32_t i = 1; i <= 10000; i++)
			give(i * 64, line(i + chunk));
		for (uint32_t i = 1; i <= 10000; i++) {
			bool has = i <= NUMBERED_MOST;

			assert_int_equal(numbered_of(n, line(i + chunk)), has ? i * 64 : 0);
			assert_int_equal(numbered_word(n, i * 64), has ? line(i + chunk) : 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_given, make, drop),
		cmocka_unit_test_setup_teardown(test_calls_of_c, make, drop),
		cmocka_unit_test_setup_teardown(test_not_given, make, drop),
		cmocka_unit_test_setup_teardown(test_given_again, make, drop),
		cmocka_unit_test_setup_teardown(test_many, make, drop),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
