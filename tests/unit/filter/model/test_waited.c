/* SPDX-License-Identifier: MIT */
/* test_waited.c - places with their times; more of them than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "code/code.h"
#include "model/waited.h"

static struct code codes[2 * WAITED];

static void test_sums(void **state)
{
	struct waited w = { 0 };

	(void)state;
	assert_int_equal(waited_most(&w)->ns, 0);
	waited_add(&w, &codes[3], 0); /* takes no place */
	assert_null(w.places[0].where);
	waited_add(&w, &codes[0], 5);
	waited_add(&w, &codes[1], 7);
	waited_add(&w, NULL, 6);
	waited_add(&w, &codes[0], 4);
	assert_ptr_equal(waited_most(&w)->where, &codes[0]);
	assert_int_equal(waited_most(&w)->ns, 9);
	assert_ptr_equal(w.places[1].where, &codes[1]);
	assert_int_equal(w.places[2].ns, 6);
	assert_int_equal(w.places[3].ns, 0);
}

/* Those that come too late are together, of no code; the sum is that of all. */
static void test_full(void **state)
{
	struct waited w = { 0 };
	uint64_t ns = 0;

	(void)state;
	for (size_t i = 0; i < 2 * WAITED; i++)
		waited_add(&w, &codes[i], 1);
	for (size_t i = 0; i < WAITED - 1; i++)
		assert_ptr_equal(w.places[i].where, &codes[i]);
	for (size_t i = 0; i < WAITED; i++)
		ns += w.places[i].ns;
	assert_null(w.places[WAITED - 1].where);
	assert_int_equal(ns, 2 * WAITED);
	assert_ptr_equal(waited_most(&w), &w.places[WAITED - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sums), cmocka_unit_test(test_full) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
