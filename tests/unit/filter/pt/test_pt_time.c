// SPDX-License-Identifier: MIT
/* test_pt_time.c - each packet that advances the clock, alone and when they conflict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pt/pt_time.h"

/* 2 TSC ticks a core cycle at CBR 10, 8 a crystal tick, an MTC every 4 crystal ticks. */
static const struct pt_clocks clocks = {
	.conv.shift = 10, .conv.mult = 2048, .conv.zero = 5, .max_ratio = 20, .mtc_shift = 2, .ctc_num = 8, .ctc_den = 1
};

static struct pt_time at(uint64_t tsc)
{
	struct pt_time t = { .clocks = &clocks };

	pt_time_restart(&t, tsc + 1000);
	pt_time_tsc(&t, tsc & ((1ull << 56) - 1), false);
	return t;
}

static void test_first_tsc(void **state)
{
	struct pt_time t = { .clocks = &clocks };

	(void)state;
	pt_time_tsc(&t, 1000, false); /* without a reference its eighth byte is unknown */
	assert_int_equal(t.now, 0);
	assert_int_equal(at(1000).now, 1000);
	assert_int_equal(at(0x7500000000000000 + 9).now, 0x7500000000000000 + 9);
}

/* The reference is behind the wrap of the lower 56 bits, the packet before it. */
static void test_near_wrap(void **state)
{
	struct pt_time t = { .clocks = &clocks };

	(void)state;
	pt_time_restart(&t, (2ull << 56) + 5);
	pt_time_tsc(&t, (1ull << 56) - 5, false);
	assert_int_equal(t.now, (2ull << 56) - 5);
}

static void test_late_tsc(void **state)
{
	struct pt_time t = at(1000000);

	(void)state;
	pt_time_tsc(&t, 1000000 - 100, false);
	assert_int_equal(t.now, 1000000); /* slipped */
	assert_int_equal(t.tsc, 1000000 - 100);
	pt_time_tsc(&t, 5, false);
	assert_int_equal(t.now, (1ull << 56) + 5); /* wrapped */
	t = at(1000000);
	t.chunk_reference = 2000000;
	pt_time_tsc(&t, 5, false); /* cannot have wrapped in this chunk */
	assert_int_equal(t.now, 1000000);
}

static void test_cyc(void **state)
{
	struct pt_time t = at(1000);

	(void)state;
	pt_time_cyc(&t, 10); /* at an unknown ratio */
	assert_int_equal(t.now, 1000);
	pt_time_cbr(&t, 10);
	pt_time_cyc(&t, 10);
	assert_int_equal(t.now, 1020);
	pt_time_cyc(&t, 3);
	assert_int_equal(t.now, 1026);
	pt_time_cbr(&t, 20);
	pt_time_cyc(&t, 3);
	assert_int_equal(t.now, 1029);
}

static void mtc(struct pt_time *t, uint32_t payload)
{
	static const uint8_t nothing[1];

	pt_time_mtc(t, payload, false, nothing, nothing);
}

static void test_mtc(void **state)
{
	struct pt_time t = at(1000);

	(void)state;
	mtc(&t, 7); /* before a TMA it says nothing */
	assert_int_equal(t.now, 1000);
	pt_time_tma(&t, 3ull << 24 | 0x0102); /* CTC 258, that is 2 past an MTC, and 3 ticks */
	mtc(&t, 0x41);
	assert_int_equal(t.now, 1000 - 3 - 2 * 8 + 4 * 8);
	mtc(&t, 0x43); /* one was lost */
	assert_int_equal(t.now, 1000 - 3 - 2 * 8 + 3 * 4 * 8);
	mtc(&t, 0x42); /* all but one of its 256 values later */
	assert_int_equal(t.now, 1000 - 3 - 2 * 8 + (3 + 255) * 4 * 8);
}

/* From an MTC after a CYC to the next one: 32 ticks, 8 cycles; CBR would say 2 ticks each. */
static void test_measured(void **state)
{
	static const uint8_t next[] = { 0x43, 0x59, 0x42 }; /* CYC 8, MTC 0x42 */
	struct pt_time t = at(1000);

	(void)state;
	pt_time_cbr(&t, 5); /* 4 ticks a cycle: what is measured, too */
	pt_time_tma(&t, 0x0100);
	pt_time_mtc(&t, 0x41, true, next, next + sizeof(next));
	assert_int_equal(t.now, 1032);
	assert_true(t.measured);
	pt_time_cyc(&t, 3);
	assert_int_equal(t.now, 1044);
	t = at(1000);
	pt_time_cbr(&t, 10); /* 2 a cycle: what is measured is too far above that */
	pt_time_tma(&t, 0x0100);
	pt_time_mtc(&t, 0x41, true, next, next + sizeof(next));
	assert_false(t.measured);
}

static void test_ns(void **state)
{
	(void)state;
	assert_int_equal(tsc_ns(&clocks.conv, 1000), 2005);
	assert_int_equal(tsc_of_ns(&clocks.conv, 2005), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_tsc), cmocka_unit_test(test_near_wrap), cmocka_unit_test(test_late_tsc),
		cmocka_unit_test(test_cyc),	  cmocka_unit_test(test_mtc),	    cmocka_unit_test(test_measured),
		cmocka_unit_test(test_ns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
