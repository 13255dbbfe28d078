/* SPDX-License-Identifier: MIT */
/* test_schedule.c - the windows of a duty cycle, and when they begin and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ext/schedule.h"

static const struct ring_duty duty = { .start_ns = 1000, .window_ns = 30, .period_ns = 100 };

static const struct {
	uint64_t now, window, edge;
} rows[] = {
	{ 0, 0, 1000 },	   { 999, 0, 1000 },
	{ 1000, 1, 1030 }, { 1029, 1, 1030 },
	{ 1030, 0, 1100 }, { 1099, 0, 1100 },
	{ 1100, 2, 1130 }, { 1000 + 100ull * 4000000000, 4000000001, 1030 + 100ull * 4000000000 },
};

static void test_windows_and_edges(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(schedule_window(&duty, rows[i].now), rows[i].window);
		assert_int_equal(schedule_edge(&duty, rows[i].now), rows[i].edge);
	}
}

static void test_no_cycle(void **state)
{
	const struct ring_duty none = { 0 };

	(void)state;
	assert_int_equal(schedule_window(&none, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_and_edges),
		cmocka_unit_test(test_no_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
