/* SPDX-License-Identifier: MIT */
/* test_meter.c - readings: one for each millisecond with events, and one more if nothing follows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "timeline/meter.h"

#define MS METER_PERIOD

static struct reading r[2];

static void assert_reading(const struct reading *got, uint64_t ns, uint64_t rate, uint64_t depth)
{
	assert_int_equal(got->ns, ns);
	assert_int_equal(got->rate, rate);
	assert_int_equal(got->depth, depth);
}

static void test_neighbours(void **state)
{
	struct meter m = { 0 };

	(void)state;
	assert_int_equal(meter_event(&m, 5, r), 0);
	meter_depth(&m, 1);
	assert_int_equal(meter_event(&m, 6, r), 0);
	meter_depth(&m, 2);
	assert_int_equal(meter_event(&m, MS - 1, r), 0);
	meter_depth(&m, 1);
	assert_int_equal(meter_event(&m, MS, r), 1);
	assert_reading(&r[0], 0, 3000, 2);
	assert_int_equal(meter_event(&m, 2 * MS, r), 1);
	assert_reading(&r[0], MS, 1000, 1);
}

static void test_silence(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_event(&m, 10 * MS + 7, r);
	meter_depth(&m, 4);
	assert_int_equal(meter_event(&m, 12 * MS, r), 2);
	assert_reading(&r[0], 10 * MS, 1000, 4);
	assert_reading(&r[1], 11 * MS, 0, 4);
	meter_depth(&m, 0);
	assert_int_equal(meter_event(&m, 99 * MS + 1, r), 2);
	assert_reading(&r[0], 12 * MS, 1000, 4);
	assert_reading(&r[1], 13 * MS, 0, 0);
}

static void test_end(void **state)
{
	struct meter m = { 0 };

	(void)state;
	assert_int_equal(meter_finish(&m, 9, r), 0);
	meter_event(&m, 3, r);
	meter_depth(&m, 1);
	assert_int_equal(meter_finish(&m, 9, r), 2);
	assert_reading(&r[0], 0, 1000, 1);
	assert_reading(&r[1], 9, 0, 0);
	assert_int_equal(meter_finish(&m, 9, r), 0);
}

/* A time from before is not another millisecond. */
static void test_backwards(void **state)
{
	struct meter m = { 0 };

	(void)state;
	meter_event(&m, 5 * MS, r);
	assert_int_equal(meter_event(&m, 1, r), 0);
	assert_int_equal(meter_finish(&m, 0, r), 2);
	assert_reading(&r[0], 5 * MS, 2000, 0);
	assert_reading(&r[1], 6 * MS, 0, 0);
}

/* Events that were not told one by one count in the millisecond that they are in. */
static void test_passed(void **state)
{
	struct meter m = { 0 };

	(void)state;
	assert_int_equal(meter_end(&m), 0);
	meter_event(&m, MS + 3, r);
	assert_int_equal(meter_end(&m), 2 * MS);
	meter_passed(&m, 6);
	assert_int_equal(meter_event(&m, 2 * MS, r), 1);
	assert_reading(&r[0], MS, 7000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_neighbours), cmocka_unit_test(test_silence), cmocka_unit_test(test_end),
		cmocka_unit_test(test_backwards),  cmocka_unit_test(test_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
