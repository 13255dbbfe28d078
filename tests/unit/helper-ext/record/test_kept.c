/* SPDX-License-Identifier: MIT */
/* test_kept.c - what is kept comes out in its order, and memory does not grow with what went through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "record/kept.h"

static void add(struct kept *k, uint64_t ns)
{
	assert_true(kept_add(k, &(struct switched){ .ns = ns, .in = ns % 2 }, (uint32_t)(7 * ns)));
}

static void expect(struct kept *k, uint64_t ns)
{
	const struct kept_switch *oldest = kept_oldest(k);

	assert_non_null(oldest);
	assert_int_equal(oldest->at.ns, ns);
	assert_int_equal(oldest->at.in, ns % 2);
	assert_int_equal(oldest->stack, 7 * ns);
	kept_take(k);
}

static void test_in_order(void **state)
{
	struct kept k = { 0 };
	uint64_t in = 0, out = 0, most = 16;

	(void)state;
	assert_null(kept_oldest(&k));
	for (int round = 0; round < 1000; round++) {
		for (int n = round % 40; n; n--)
			add(&k, in++);
		most = in - out > most ? in - out : most;
		for (int n = round % 39; n && out < in; n--)
			expect(&k, out++);
		assert_in_range(k.room, 0, 4 * most); /* more than half of it was in use when it doubled */
	}
	while (out < in)
		expect(&k, out++);
	assert_null(k.all); /* when all are taken, nothing is left */
}

static void test_full(void **state)
{
	struct kept k = { 0 };

	(void)state;
	for (uint64_t i = 0; i < KEPT_MOST; i++)
		add(&k, i);
	assert_false(kept_full(&k));
	for (uint64_t i = 0; i < 4 * KEPT_MOST; i++) {
		add(&k, KEPT_MOST + i);
		assert_true(kept_full(&k));
		expect(&k, i);
		assert_false(kept_full(&k));
	}
	assert_in_range(k.room, KEPT_MOST, 4 * KEPT_MOST);
	kept_free(&k);
	assert_null(kept_oldest(&k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
