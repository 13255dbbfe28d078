/* SPDX-License-Identifier: MIT */
/* test_columns_shared.c - columns of several threads have no more cells than one has, and are joined to what it has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/columns.h"

#define MEMBERS 4
#define EVENTS	(COLUMNS_CELLS / 2) /* of each: all together have twice too many cells */
#define WIDE	(1ull * COLUMNS_WIDTH * COLUMNS_MOST / EVENTS)

static struct columns members[MEMBERS], one;
static struct columns_shared shared;

/* Each node is in four neighbours. */
static void go(struct columns *c, int member, uint32_t event)
{
	struct columns_row *row = columns_row(c, member, 1);
	const uint32_t of_one = EVENTS / COLUMNS_MOST, node = 1 + event % of_one + event / (4 * of_one) * of_one;

	assert_int_equal(columns_went(c, row, 5000 + event * WIDE, node, true), 0);
}

static size_t cells(void)
{
	size_t n = 0;

	for (int i = 0; i < MEMBERS; i++)
		n += members[i].cells.n;
	return n;
}

static int set_up(void **state)
{
	(void)state;
	columns_shared_init(&shared);
	one = (struct columns){ 0 };
	for (int i = 0; i < MEMBERS; i++) {
		members[i] = (struct columns){ 0 };
		columns_share(&members[i], &shared);
	}
	for (int i = 0; i < MEMBERS; i++) {
		members[i].begun = true; /* as if they had agreed */
		members[i].origin_ns = 5000;
		members[i].shift = COLUMNS_SHIFT;
		members[i].width_ns = COLUMNS_WIDTH;
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < MEMBERS; i++)
		columns_free(&members[i]);
	columns_free(&one);
	columns_shared_destroy(&shared);
	return 0;
}

/* Joins them: what has come out is as wide as one that has all. */
static void check(void)
{
	assert_int_equal(columns_finish(&one), 0);
	for (int i = 1; i < MEMBERS; i++)
		assert_int_equal(columns_join(&members[0], &members[i], 0), 0);
	assert_int_equal(columns_finish(&members[0]), 0);
	assert_int_equal(members[0].shift, one.shift);
	assert_true(one.shift > COLUMNS_SHIFT);
	assert_int_equal(members[0].cells.n, one.cells.n);
	assert_int_equal(members[0].cells.timed, one.cells.timed);
}

static void test_at_once(void **state)
{
	(void)state;
	for (uint32_t event = 0; event < EVENTS; event++)
		for (int i = 0; i < MEMBERS; i++) {
			go(&members[i], i, event);
			go(&one, i, event);
			if (event % 1000 == 0)
				assert_true(cells() <= COLUMNS_CELLS + MEMBERS * (COLUMNS_TELL + COLUMNS_RECENT + 2));
		}
	for (int i = 0; i < MEMBERS; i++)
		columns_heard(&members[i]);
	assert_true(cells() <= COLUMNS_CELLS + MEMBERS * (COLUMNS_TELL + COLUMNS_RECENT + 2));
	check();
}

/* What has ended becomes wider with the others: nobody else would do it. */
static void test_ended(void **state)
{
	(void)state;
	for (int i = 0; i < MEMBERS; i++) {
		for (uint32_t event = 0; event < EVENTS; event++) {
			go(&members[i], i, event);
			go(&one, i, event);
		}
		columns_heard(&members[i]);
		assert_true(cells() <= COLUMNS_CELLS + COLUMNS_TELL + MEMBERS * COLUMNS_RECENT);
	}
	assert_true(members[0].shift > COLUMNS_SHIFT);
	check();
}

/* More nodes than there may be cells: nothing is left to do. */
static void test_too_many_nodes(void **state)
{
	(void)state;
	for (int i = 0; i < MEMBERS; i++) {
		struct columns_row *row = columns_row(&members[i], i, 1);

		for (uint32_t node = 1; node < COLUMNS_CELLS / 8 * 3; node++)
			assert_int_equal(columns_went(&members[i], row, 5000 + node, node, true), 0);
		columns_heard(&members[i]);
	}
	assert_int_equal(members[0].shift, COLUMNS_WIDEST);
	for (int i = 1; i < MEMBERS; i++)
		assert_int_equal(columns_join(&members[0], &members[i], 0), 0);
	assert_int_equal(columns_finish(&members[0]), 0);
	assert_true(members[0].cells.n > COLUMNS_CELLS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ended, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many_nodes, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
