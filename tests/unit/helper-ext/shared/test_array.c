/* SPDX-License-Identifier: MIT */
/* test_array.c - growing arrays keep their contents, and do not change if there is no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "shared/array.h"

#define N 5000

/* As without the sanitizer: what cannot be had is NULL. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void test_room_doubles_and_keeps_what_is_there(void **state)
{
	int *array = NULL;
	uint32_t n = 0, room = 0, grown = 0;

	(void)state;
	for (; n < N; n++) {
		uint32_t before = room;

		assert_true(ARRAY_ROOM(array, n, room));
		assert_true(room > n);
		grown += room != before;
		array[n] = n;
	}
	assert_true(grown < 12);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(array[i], i);
	free(array);
}

static void test_one_more_keeps_what_is_there(void **state)
{
	int *array = NULL;

	(void)state;
	for (int n = 0; n < N; n++) {
		assert_true(ARRAY_ONE_MORE(array, n));
		array[n] = n;
	}
	for (int i = 0; i < N; i++)
		assert_int_equal(array[i], i);
	free(array);
}

/* The product of the two sizes has no place in a size_t; a doubled number none in its own type. */
static void test_without_memory_nothing_changes(void **state)
{
	uint64_t *array = malloc(sizeof(*array)), *before = array;
	volatile uint8_t number = 128; /* volatile: else the compiler sees it, and warns */
	volatile size_t room = SIZE_MAX / 4;

	(void)state;
	*array = 42;
	assert_false(ARRAY_ROOM(array, room, room));
	assert_false(ARRAY_ROOM(array, number, number));
	assert_false(ARRAY_ONE_MORE(array, room));
	assert_ptr_equal(array, before);
	assert_int_equal(*array, 42);
	assert_int_equal(room, SIZE_MAX / 4);
	assert_int_equal(number, 128);
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_doubles_and_keeps_what_is_there),
		cmocka_unit_test(test_one_more_keeps_what_is_there),
		cmocka_unit_test(test_without_memory_nothing_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
