/* SPDX-License-Identifier: MIT */
/* test_greenlets.c - which greenlet is at an address, how long each ran, and the rows that are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/greenlets.h"

static struct greenlets all;
static struct greenlet_totals totals;

static int begin(void **state)
{
	(void)state;
	all = (struct greenlets){ 0 };
	totals = (struct greenlet_totals){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	greenlets_free(&all);
	free(totals.rows);
	return 0;
}

static struct greenlet *at(uint64_t address)
{
	return greenlets_at(&all, &totals, address, 7, 8);
}

static void test_the_same_until_it_ends(void **state)
{
	struct greenlet *a = at(64), *b = at(65);

	(void)state;
	assert_ptr_equal(at(64), a);
	assert_ptr_equal(at(65), b);
	assert_int_equal(greenlets_end(&all, &totals, a), 0);
	assert_int_equal(at(64)->number, 3);
	assert_ptr_equal(at(65), b);
	assert_int_equal(totals.count, 3);
}

/* What runs has the time; nobody has it while that is not known. */
static void test_time(void **state)
{
	struct greenlet *a = at(64), *b = at(65);

	(void)state;
	greenlets_until(&all, 10);
	all.running = a;
	greenlets_until(&all, 25);
	all.running = b;
	greenlets_until(&all, 20); /* before: not at all */
	greenlets_until(&all, 27);
	assert_int_equal(a->running_ns, 15);
	assert_int_equal(b->running_ns, 7);
	b->home = true;
	assert_int_equal(greenlets_shown(&all), 0);
	all.running = a;
	assert_int_equal(greenlets_shown(&all), 1);
	all.running = NULL;
	assert_int_equal(greenlets_shown(&all), 0);
}

static void test_an_ended_one_runs_no_more(void **state)
{
	(void)state;
	all.running = at(64);
	assert_int_equal(greenlets_end(&all, &totals, all.running), 0);
	assert_null(all.running);
}

static void test_rows(void **state)
{
	(void)state;
	at(64)->running_ns = 5;
	at(65)->running_ns = 9;
	at(65)->switches = 2;
	assert_int_equal(greenlets_end(&all, &totals, at(64)), 0);
	assert_int_equal(greenlets_finish(&all, &totals), 0);
	greenlets_rank(&totals);
	assert_int_equal(totals.n, 2);
	assert_int_equal(totals.rows[0].number, 2);
	assert_int_equal(totals.rows[0].switches, 2);
	assert_int_equal(totals.rows[1].running_ns, 5);
	assert_int_equal(totals.rows[1].tid, 8);
}

static void test_by_function(void **state)
{
	struct greenlet_total *rows;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		struct greenlet *g = at(64 + i);

		g->function = (const struct code *)((uintptr_t)64 << i % 2); /* only compared */
		g->running_ns = 10 + i;
		g->switches = 1;
	}
	assert_int_equal(greenlets_finish(&all, &totals), 0);
	totals.others = (struct greenlet_total){ .running_ns = 25, .count = 3 };
	rows = greenlets_by_function(&totals, &n);
	assert_non_null(rows);
	assert_int_equal(n, 3);
	assert_int_equal(rows[0].running_ns, 10 + 12 + 14);
	assert_int_equal(rows[0].count, 3);
	assert_int_equal(rows[0].switches, 3);
	assert_int_equal(rows[1].running_ns, 11 + 13);
	assert_int_equal(rows[2].running_ns, 25);
	assert_int_equal(rows[2].count, 3);
	free(rows);
}

/* Memory is flat: greenlets that come and go have one address and so many rows. */
static void test_many(void **state)
{
	(void)state;
	for (int i = 0; i < GREENLETS_MOST + 5; i++) {
		at(64)->running_ns = 3;
		assert_int_equal(greenlets_end(&all, &totals, at(64)), 0);
	}
	assert_int_equal(all.by_address.used, 1);
	assert_int_equal(totals.n, GREENLETS_MOST);
	assert_int_equal(totals.count, GREENLETS_MOST + 5);
	assert_int_equal(totals.others.running_ns, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_same_until_it_ends, begin, end),
		cmocka_unit_test_setup_teardown(test_time, begin, end),
		cmocka_unit_test_setup_teardown(test_an_ended_one_runs_no_more, begin, end),
		cmocka_unit_test_setup_teardown(test_rows, begin, end),
		cmocka_unit_test_setup_teardown(test_by_function, begin, end),
		cmocka_unit_test_setup_teardown(test_many, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
