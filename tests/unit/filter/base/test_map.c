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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_keeps_its_value),
		cmocka_unit_test(test_a_second_put_replaces),
		cmocka_unit_test(test_next_visits_each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
