/* SPDX-License-Identifier: MIT */
/* test_undecided.c - what waits, what decides it, and what is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "code/codes.h"
#include "recover/undecided.h"

static struct instr instrs[] = {
	{ .offset = 0, .base = 1 }, { .offset = 2, .base = 2 }, { .offset = 4, .base = 3 }, { .offset = 6, .base = 4 }
};
static struct code code = { .ninstrs = 4, .instrs = instrs };
static char out[256];

static int note(void *to, const struct sample *s)
{
	(void)to;
	snprintf(out + strlen(out), sizeof(out) - strlen(out), "%d@%d ", s->opcode, (int)s->offset);
	return 0;
}

static uint64_t add(struct undecided *d, uint64_t before, uint8_t opcode, const struct undecided_place *places,
		    unsigned n)
{
	struct sample s = { .op = OP_INSTRUCTION, .opcode = opcode, .code = &code };

	return undecided_add(d, &s, UNDECIDED_OPEN, before, places, n);
}

static const char *flushed(struct undecided *d, bool all)
{
	*out = '\0';
	assert_int_equal(undecided_flush(d, all, note, NULL), 0);
	return out;
}

static void test_the_last_settles_those_before(void **state)
{
	struct undecided d = { 0 };
	struct undecided_place two[] = { { 0, 0 }, { 1, 0 } }, crossed[] = { { 2, 1 }, { 3, 0 } };
	struct sample other = { .opcode = 9, .offset = 99 };
	uint64_t a = add(&d, UNDECIDED_NONE, 0, two, 2), b;

	(void)state;
	undecided_add(&d, &other, UNDECIDED_SETTLED, UNDECIDED_NONE, NULL, 0);
	b = add(&d, a, 7, crossed, 2);
	assert_string_equal(flushed(&d, false), "");
	undecided_settle(&d, b, 0);
	assert_string_equal(flushed(&d, false), "2@2 9@99 7@4 ");
	assert_false(undecided_waits(&d));
	assert_int_equal(d.unsure, 0);
	undecided_free(&d);
}

static void test_ways_that_met_leave_what_was_before_unsure(void **state)
{
	struct undecided d = { 0 };
	struct undecided_place two[] = { { 0, 0 }, { 1, 0 } }, met[] = { { 2, UNDECIDED_MERGED } };
	uint64_t a = add(&d, UNDECIDED_NONE, 0, two, 2), b = add(&d, a, 0, met, 1);

	(void)state;
	undecided_settle(&d, b, 0);
	assert_string_equal(flushed(&d, false), "3@4 ");
	assert_int_equal(d.unsure, 1);
	undecided_free(&d);
}

static void test_given_up_and_full(void **state)
{
	struct undecided d = { 0 };
	struct undecided_place two[] = { { 0, 0 }, { 1, 0 } };
	uint64_t last = UNDECIDED_NONE;

	(void)state;
	for (int i = 0; i < UNDECIDED_STEPS; i++)
		last = add(&d, last, 0, two, 2);
	assert_string_equal(flushed(&d, true), "");
	assert_int_equal(d.unsure, UNDECIDED_STEPS);
	undecided_settle(&d, last, 0); /* gone: no harm */
	last = add(&d, last, 0, two, 2);
	undecided_give_up(&d, last);
	assert_string_equal(flushed(&d, false), "");
	assert_int_equal(d.unsure, UNDECIDED_STEPS + 1);
	undecided_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_settles_those_before),
		cmocka_unit_test(test_ways_that_met_leave_what_was_before_unsure),
		cmocka_unit_test(test_given_up_and_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
