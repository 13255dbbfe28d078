/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shared/numbers.h"

/* A thread's numbers never mean another word, however many there are: when they are used up, words are whole. */
static void test_numbers_are_given_once(void **state)
{
	static uint64_t means[MARKER_NUMBER_MAX + 1];
	static struct numbers n;
	uint64_t whole = 0;

	(void)state;
	for (uint32_t i = 0; i < 3 * MARKER_NUMBER_MAX; i++) {
		uint64_t word = marker_event(OP_LINE, 0, 1 + i / 2 % 5000, 9, 0);
		uint32_t number = 0;

		if (i % 20 == 0)
			n.chunk++;
		if (!numbers_knows(numbers_slot(&n, word), word, n.chunk))
			number = numbers_meet(&n, numbers_slot(&n, word), word);
		assert_in_range(number, 0, MARKER_NUMBER_MAX);
		whole += n.last == MARKER_NUMBER_MAX && i % 2 && !number;
		if (number && means[number])
			assert_int_equal(means[number], word);
		means[number] = number ? word : 0;
	}
	assert_int_equal(n.last, MARKER_NUMBER_MAX);
	assert_true(whole);
}

/* A word gets its number the second time in a chunk; in the next one that has to be said again. */
static void test_the_second_time(void **state)
{
	static struct numbers n;
	uint64_t word = marker_event(OP_LINE, 0, 5, 9, 0);
	struct numbered *slot = numbers_slot(&n, word);

	(void)state;
	for (n.chunk = 1; n.chunk < 4; n.chunk++) {
		assert_false(numbers_knows(slot, word, n.chunk));
		assert_int_equal(numbers_meet(&n, slot, word), 0);
		assert_false(numbers_knows(slot, word, n.chunk));
		assert_int_equal(numbers_meet(&n, slot, word), 1);
		assert_true(numbers_knows(slot, word, n.chunk));
	}
}

/* A C_CALL is a CALL behind its NUMBER, which has the callee; any other word stays as it is. */
static void test_definitions(void **state)
{
	uint64_t call = marker_c_call(0, 77, 5, 9), line = marker_event(OP_LINE, 0, 5, 9, 0);

	(void)state;
	assert_int_equal(numbers_definition(&call, 3), marker_number_of(3, 77));
	assert_int_equal(call, marker_event(OP_CALL, 0, 5, 9, 0));
	assert_int_equal(numbers_definition(&line, 4), marker_number_of(4, 0));
	assert_int_equal(line, marker_event(OP_LINE, 0, 5, 9, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_are_given_once),
		cmocka_unit_test(test_the_second_time),
		cmocka_unit_test(test_definitions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
