/* SPDX-License-Identifier: MIT */
/* test_clock.c - the line through two pairs, as perf computes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "record/clock.h"
#include "shared/ticks.h"

static const struct {
	const char *name;
	struct clock_pair first, last;
	uint64_t hz;
} lines[] = {
	{ "1 GHz from zero", { 0, 0 }, { 1000000000, 1000000000 }, 1000000000 },
	{ "2.6 GHz, ten hours up", { 93600000000000, 36000000000000 }, { 93602600000000, 36001000000000 }, 2600000000 },
	{ "clock behind the TSC", { 5000000000, 7 }, { 8000000000, 1000000007 }, 3000000000 },
	{ "slow TSC", { 100, 5000000000 }, { 25000100, 6000000000 }, 25000000 },
	{ "nanoseconds, one more in ten seconds", { 0, 0 }, { 10000000001, 10000000000 }, 1000000000 },
	{ "5.7 GHz, ten ms apart",
	  { 1ull << 55, 1ull << 54 },
	  { (1ull << 55) + 57000000, (1ull << 54) + 10000000 },
	  5700000000 },
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void assert_near(uint64_t a, uint64_t b, uint64_t most)
{
	assert_in_range(a > b ? a - b : b - a, 0, most);
}

static void test_line_goes_through_both_pairs(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct clock c = { lines[i].first, lines[i].last };
		struct time_conv conv = clock_conv(&c);

		assert_int_equal(clock_ns(&conv, c.first.tsc), c.first.ns);
		assert_near(clock_ns(&conv, c.last.tsc), c.last.ns, 1);
		assert_int_equal(clock_hz(&c), lines[i].hz);
		assert_in_range(conv.shift, 0, 32); /* perf multiplies in 64 bits */
		assert_in_range(conv.mult, 1, UINT32_MAX);
	}
}

static void test_line_is_good_for_a_day(void **state)
{
	const uint64_t day = 86400;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++) {
		struct clock c = { lines[i].first, lines[i].last };
		struct time_conv conv;

		c.last.tsc = c.first.tsc + day * lines[i].hz;
		c.last.ns = c.first.ns + day * 1000000000;
		conv = clock_conv(&c);
		/* mult is rounded: half a unit of its 30 to 32 bits. */
		assert_near(clock_ns(&conv, c.last.tsc), c.last.ns, day * 1000000000 / conv.mult / 2 + 1);
		assert_true(conv.mult >> 29);
	}
}

static void test_now_is_between_two_readings(void **state)
{
	struct clock c;
	struct time_conv conv;
	uint64_t before, now, after;

	(void)state;
	clock_start(&c);
	clock_update(&c);
	conv = clock_conv(&c);
	before = clock_monotonic_ns();
	now = clock_ns(&conv, ticks_now());
	after = clock_monotonic_ns();
	/* Both pairs are at most a few hundred ns off, and 10 ms apart. */
	assert_in_range(now, before - 5000, after + 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_goes_through_both_pairs),
		cmocka_unit_test(test_line_is_good_for_a_day),
		cmocka_unit_test(test_now_is_between_two_readings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
