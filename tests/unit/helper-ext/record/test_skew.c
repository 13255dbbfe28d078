/* SPDX-License-Identifier: MIT */
/* What differences between processors say of their clocks; and that real ones can be measured. */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/skew.h"

/* Pairs whose word takes `way` ticks, and the second of whom is `ahead` ticks before the first. */
static const struct {
	const char *name;
	int64_t way[3], ahead[3];
	int64_t closest;
	uint64_t most; /* at least the greatest |ahead| */
} machines[] = {
	{ "the clocks agree", { 90, 90, 90 }, { 0, 0, 0 }, 90, 90 },
	{ "one differs by less than the way", { 90, 90, 400 }, { 0, 50, 0 }, 40, 400 },
	{ "one is ahead by more than the way", { 90, 90, 90 }, { 0, 1000, 0 }, -910, 1090 },
	{ "one is behind by more than the way", { 90, 90, 90 }, { 0, 0, -1000 }, -910, 1090 },
};

static void test_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		struct skew s = { .processors = 3 };

		for (int p = 0; p < 3; p++) {
			int64_t way = machines[i].way[p], ahead = machines[i].ahead[p];

			skew_add(&s.clocks, (struct skew_pair){ way + ahead, way - ahead });
		}
		print_message("%s\n", machines[i].name);
		s.early = s.clocks;
		assert_int_equal(s.clocks.pairs, 3);
		assert_int_equal(s.clocks.closest, machines[i].closest);
		assert_int_equal(s.clocks.most, machines[i].most);
		assert_int_equal(skew_tell(&s, 1000000000), machines[i].closest < 0);
	}
}

static void test_this_machine(void **state)
{
	cpu_set_t before, after;
	struct skew s;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(skew_measure(&s), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	assert_int_equal(s.processors, CPU_COUNT(&before));
	assert_true(s.clocks.pairs <= s.processors * (s.processors - 1) / 2);
	if (s.clocks.pairs)
		assert_true(s.clocks.most >= (uint64_t)llabs(s.clocks.closest));
}

static void test_one_processor(void **state)
{
	cpu_set_t all, one;
	struct skew s;
	int first = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(skew_measure(&s), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(s.processors, 1);
	assert_int_equal(s.clocks.pairs + s.early.pairs, 0);
	assert_int_equal(skew_tell(&s, 1000000000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_one_processor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
