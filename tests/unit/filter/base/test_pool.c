/* SPDX-License-Identifier: MIT */
/* test_pool.c - pieces of any size: all 0, apart from each other, aligned; and nothing of a pool is left behind. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/pool.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_pieces(void **state)
{
	static const size_t sizes[] = { 0, 1, 16, 17, 4000, 16 << 10, 100000, 256 << 10, 1 << 20 };
	struct pool p = { 0 };
	struct {
		uint8_t *at;
		size_t size;
	} taken[400];

	(void)state;
	for (size_t i = 0; i < COUNT(taken); i++) {
		size_t size = taken[i].size = sizes[i * 7 % (i % 10 ? 5 : COUNT(sizes))];
		uint8_t *at = taken[i].at = pool_take(&p, size);

		assert_non_null(at);
		assert_int_equal((uintptr_t)at % alignof(max_align_t), 0);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(at[k], 0);
		memset(at, (int)(i % 255 + 1), size);
	}
	for (size_t i = 0; i < COUNT(taken); i++)
		for (size_t k = 0; k < taken[i].size; k++)
			assert_int_equal(taken[i].at[k], i % 255 + 1);
	pool_free(&p);
	assert_null(p.last);
	pool_free(&p);
}

static void test_texts(void **state)
{
	struct pool p = { 0 };
	const char *a = pool_text(&p, "abc", 2), *b = pool_text(&p, "", 0), *c = pool_print(&p, "%s %d", a, 7);

	(void)state;
	assert_string_equal(a, "ab");
	assert_string_equal(b, "");
	assert_string_equal(c, "ab 7");
	pool_free(&p);
}

#define HUGE_PAGE (2 << 20)

static uintptr_t huge_page(const void *at)
{
	return (uintptr_t)at / HUGE_PAGE;
}

/* What is expected is in huge pages; what does not fit into one is beside them. */
static void test_much_that_is_expected(void **state)
{
	struct pool p = { .expected = 2 * HUGE_PAGE + 1000 };
	const char *first = pool_take(&p, 100), *last = pool_take(&p, HUGE_PAGE - 1000), *other;

	(void)state;
	assert_true(huge_page(first) == huge_page(last) && huge_page(first) == huge_page(last + HUGE_PAGE - 1001));
	assert_int_equal(p.expected, HUGE_PAGE + 1000);
	assert_true((uintptr_t)first % HUGE_PAGE < 100);
	other = pool_take(&p, HUGE_PAGE + 1);
	assert_non_null(other);
	assert_int_equal(other[HUGE_PAGE], 0);
	assert_int_equal(p.expected, 0);
	pool_free(&p);
}

/* More than there can be. */
static void test_no_memory(void **state)
{
	struct pool p = { 0 };

	(void)state;
	assert_non_null(pool_take(&p, 1));
	assert_null(pool_take(&p, SIZE_MAX / 2));
	assert_null(pool_take(&p, SIZE_MAX));
	assert_non_null(pool_take(&p, 1));
	pool_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_much_that_is_expected),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
