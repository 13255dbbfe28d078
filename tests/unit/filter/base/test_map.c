/* SPDX-License-Identifier: MIT */
/* test_map.c - keys that share slots, growth, replacement, iteration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/map.h"

#define N 5000

/* As without the sanitizer: what cannot be had is NULL. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static int values[N];

/* Keys as the callers have them: ids, pid<<32|tid, addresses, and both ends of the range. */
static const struct {
	const char *name;
	uint64_t first, step;
} rows[] = {
	{ "ids", 0, 1 },
	{ "threads of one process", 4242ull << 32 | 4242, 1 },
	{ "main threads", 7ull << 32 | 7, 1ull << 32 | 1 },
	{ "addresses", 0x7f0012345600, 64 },
	{ "the largest", UINT64_MAX - N, 1 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_every_key_keeps_its_value(void **state)
{
	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		struct map m = { 0 };

		for (int i = 0; i < N; i++) {
			assert_null(map_get(&m, rows[r].first + i * rows[r].step));
			assert_int_equal(map_put(&m, rows[r].first + i * rows[r].step, &values[i]), 0);
		}
		assert_int_equal(m.used, N);
		for (int i = 0; i < N; i++)
			assert_ptr_equal(map_get(&m, rows[r].first + i * rows[r].step), &values[i]);
		assert_null(map_get(&m, rows[r].first + N * rows[r].step));
		map_free(&m);
	}
}

static void test_a_second_put_replaces(void **state)
{
	struct map m = { 0 };

	(void)state;
	map_put(&m, 5, &values[0]);
	map_put(&m, 5, &values[1]);
	assert_int_equal(m.used, 1);
	assert_ptr_equal(map_get(&m, 5), &values[1]);
	map_free(&m);
}

/* A place is where the value is; a new one, also in a map that has to grow for it, is empty. */
static void test_place(void **state)
{
	struct map m = { 0 };
	struct map_slot *s;

	(void)state;
	for (int i = 0; i < N; i++) {
		s = map_place(&m, i * 16);
		assert_non_null(s);
		assert_null(s->value);
		s->value = &values[i];
	}
	for (int i = 0; i < N; i++)
		assert_ptr_equal(map_place(&m, i * 16)->value, &values[i]);
	assert_int_equal(m.used, N);
	map_place(&m, 16)->value = &values[0];
	assert_ptr_equal(map_get(&m, 16), &values[0]);
	map_free(&m);
}

static void test_next_visits_each_once(void **state)
{
	struct map m = { 0 };
	unsigned char seen[N] = { 0 };
	int n = 0;

	(void)state;
	assert_null(map_next(&m, NULL));
	for (int i = 0; i < N; i++)
		map_put(&m, i, &values[i]);
	for (struct map_slot *s = NULL; (s = map_next(&m, s)); n++) {
		assert_ptr_equal(s->value, &values[s->key]);
		assert_false(seen[s->key]++);
	}
	assert_int_equal(n, N);
	map_free(&m);
	assert_null(map_next(&m, NULL));
	assert_null(map_get(&m, 5));
}

static void test_added_values_are_zeroed_and_freed(void **state)
{
	struct map m = { 0 };
	int *value = NULL;

	(void)state;
	for (int i = 0; i < N; i++) {
		value = map_add(&m, i, sizeof(*value));
		assert_non_null(value);
		assert_int_equal(*value, 0);
		assert_ptr_equal(map_get(&m, i), value);
	}
	assert_null(map_add(&m, N, SIZE_MAX));
	assert_null(map_get(&m, N));
	assert_int_equal(m.used, N);
	map_free_all(&m);
	assert_int_equal(m.used, 0);
	assert_null(map_next(&m, NULL));
}

/* Numbers in place of pointers are added up, while the table grows. */
static void test_count(void **state)
{
	struct map m = { 0 };

	(void)state;
	for (uint64_t round = 1; round <= 3; round++)
		for (uint64_t key = 0; key < 100; key++)
			assert_int_equal(map_count(&m, key, round * (key + 1)), 0);
	assert_int_equal(m.used, 100);
	for (uint64_t key = 0; key < 100; key++)
		assert_int_equal((uintptr_t)map_get(&m, key), 6 * (key + 1));
	map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_every_key_keeps_its_value),
		cmocka_unit_test(test_a_second_put_replaces),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_next_visits_each_once),
		cmocka_unit_test(test_added_values_are_zeroed_and_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
