/* SPDX-License-Identifier: MIT */
/* test_ticks.c - a clock's step is found where there is one, and any CYC packets come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "any.h"
#include "pack/ticks.h"
#include "shared/ptput.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define PACKETS	 20000
#define ROUNDS	 2000

static uint8_t column[PACKETS * PTPUT_CYC_MOST], back[sizeof(column) + PTPUT_CYC_MOST];

/* As programs have it: mostly a few steps, at times very many. */
static uint64_t any_steps(void)
{
	return any(50) ? any(60) : any(10) ? any(3000) : any(1u << 30);
}

/* A counter that has hz_eighths / 8 cycles at each step of its clock; of 100 times, `odd` are from another counter. */
static size_t count_by(uint32_t eighths, uint32_t odd)
{
	uint64_t count = 0, then = 0;
	uint8_t *p = column;

	for (int i = 0; i < PACKETS; i++, then = count) {
		count += any_steps() * eighths + (any(100) < odd ? any(1000) : 0);
		p = ptput_cyc(p, count / 8 - then / 8);
	}
	return p - column;
}

/* Returns the size as steps; 0: they would not be shorter. */
static size_t assert_come_back(uint32_t step, size_t n)
{
	uint8_t *cycles = malloc(n ? n : 1), *to = malloc(n ? n : 1); /* of the exact size: ASan sees a byte too far */
	size_t size;

	memcpy(cycles, column, n);
	size = ticks_put(step, cycles, n, to);
	assert_true(!size || size < n);
	if (size) {
		assert_int_equal(ticks_get(step, to, size, back, sizeof(back)), n);
		assert_memory_equal(back, cycles, n);
	}
	free(cycles);
	free(to);
	return size;
}

static void test_steps_are_found(void **unused)
{
	static const uint32_t eighths[] = { 32, 100, 162, 196, 208, 304, 373, 400, 512 };

	(void)unused;
	for (size_t i = 0; i < COUNT(eighths); i++)
		for (uint32_t odd = 0; odd < 4; odd++) {
			size_t n = count_by(eighths[i], odd);

			assert_int_equal(ticks_step(column, n), eighths[i]);
			assert_come_back(eighths[i], n);
		}
}

/* A step for each number below 127: all but the first is one byte, whatever the fraction of a cycle. */
static void test_phase_is_followed(void **unused)
{
	uint64_t count = 5;
	uint8_t *p = column;

	(void)unused;
	for (int i = 0; i < PACKETS; i++) {
		uint64_t then = count;

		count += (2 + any(120)) * 196;
		p = ptput_cyc(p, count / 8 - then / 8);
	}
	assert_int_equal(assert_come_back(196, p - column), PACKETS + 2); /* the first one stays whole */
}

/* A counter that counts each cycle has none, and neither has one of which a tenth of the times is anything. */
static void test_no_step(void **unused)
{
	size_t n = count_by(8, 0);

	(void)unused;
	assert_int_equal(ticks_step(column, n), 0);
	assert_int_equal(ticks_step(column, 0), 0);
	n = count_by(196, 60);
	assert_int_equal(ticks_step(column, n), 0);
}

/* Any bytes that are whole packets, longer than their cycles need among them, by any step. */
static void test_anything_comes_back(void **unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		uint8_t *p = column;

		for (uint32_t n = any(60); n; n--) {
			size_t size = any(8) ? 1 + any(3) : 1 + any(15);

			for (size_t at = 0; at < size; at++)
				p[at] = any(2) ? any(256) : 0;
			p[0] = (p[0] & ~7) | 3 | (size > 1) << 2;
			for (size_t at = 1; at < size; at++)
				p[at] = (p[at] & ~1) | (at + 1 < size);
			p += size;
		}
		ticks_step(column, p - column);
		assert_come_back(32 + any(481), p - column);
	}
}

static void test_refused(void **unused)
{
	static const struct {
		uint32_t step;
		size_t n;
		uint8_t steps[8];
		size_t most;
	} cases[] = {
		{ 196, 1, { 0x80 }, 100 },		    /* a number without an end */
		{ 196, 5, { 255, 255, 255, 255, 1 }, 100 }, /* too large */
		{ 196, 1, { 0 }, 100 },			    /* no packet behind the 0 */
		{ 196, 3, { 0, 7, 1 }, 100 },		    /* one without an end */
		{ 196, 2, { 5, 5 }, 10 },		    /* no room for the second one */
		{ 513, 1, { 5 }, 100 },			    /* no such step */
		{ 0xffffffff, 1, { 5 }, 100 },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(ticks_get(cases[i].step, cases[i].steps, cases[i].n, back, cases[i].most), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_found), cmocka_unit_test(test_phase_is_followed),
		cmocka_unit_test(test_no_step),		cmocka_unit_test(test_anything_comes_back),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
