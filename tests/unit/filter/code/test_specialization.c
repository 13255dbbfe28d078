/* SPDX-License-Identifier: MIT */
/* test_specialization.c - an instruction when first seen and at the end: how it changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "code/specialization.h"

enum { PLAIN = 1, ABLE, ABLE_INT, ABLE_STR };

static struct process process = { .ables = true, .able = { [ABLE] = true } };

/* {offset, line, target, base, adaptive, back_edge, handler, resume, first} */
static struct instr instrs[] = {
	{ 0, 1, -1, PLAIN, PLAIN, false, false, false, PLAIN },	      /* cannot */
	{ 2, 1, -1, ABLE, ABLE, false, false, false, ABLE },	      /* stayed base */
	{ 4, 1, -1, ABLE, ABLE_INT, false, false, false, ABLE },      /* gained */
	{ 6, 1, -1, ABLE, ABLE_STR, false, false, false, ABLE },      /* gained */
	{ 8, 1, -1, ABLE, ABLE, false, false, false, ABLE_INT },      /* lost */
	{ 10, 1, -1, ABLE, ABLE_STR, false, false, false, ABLE_INT }, /* changed */
	{ 12, 1, -1, ABLE, ABLE_INT, false, false, false, ABLE_INT }, /* kept */
};

static void assert_counts(const struct specialization *s, const uint32_t wanted[8])
{
	const uint32_t got[] = { s->instructions, s->able,   s->specialized, s->base,
				 s->first,	  s->gained, s->lost,	     s->changed };

	for (int i = 0; i < 8; i++)
		assert_int_equal(got[i], wanted[i]);
}

static void test_of_a_code_object(void **state)
{
	const struct code code = { .final = true, .process = &process, .instrs = instrs, .ninstrs = 7 };
	struct specialization s = specialization_of(&code);

	(void)state;
	assert_true(s.known);
	assert_counts(&s, (uint32_t[]){ 7, 6, 4, 2, 3, 2, 1, 1 });
}

static void test_killed_before_the_end(void **state)
{
	const struct code code = { .process = &process, .instrs = instrs, .ninstrs = 7 };
	struct specialization s = specialization_of(&code);

	(void)state;
	assert_false(s.known);
	assert_counts(&s, (uint32_t[]){ 7, 6, 0, 0, 3, 0, 0, 0 });
}

/* Nothing in it is specialised: it has no line of its own, but an orderly stop says that others have. */
static void test_a_stop_line_is_enough(void **state)
{
	const struct process stopped = { .stopped = true };
	const struct code code = { .process = &stopped, .instrs = instrs, .ninstrs = 1 };
	struct specialization s = specialization_of(&code);

	(void)state;
	assert_true(s.known);
	assert_counts(&s, (uint32_t[]){ 1, 0, 0, 0, 0, 0, 0, 0 });
}

static void test_of_an_instruction(void **state)
{
	const struct process old = { .stopped = true }; /* whose header does not say which can */
	const struct code code = { .process = &process }, of_old = { .process = &old };

	(void)state;
	assert_int_equal(specialized_of(&code, &instrs[0]), SPECIALIZED_NEVER_CAN);
	assert_int_equal(specialized_of(&code, &instrs[1]), SPECIALIZED_NOT);
	assert_int_equal(specialized_of(&code, &instrs[2]), SPECIALIZED_YES);
	assert_int_equal(specialized_of(&of_old, &instrs[2]), SPECIALIZED_YES);
	assert_int_equal(specialized_of(&of_old, &instrs[1]), SPECIALIZED_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_a_code_object),
		cmocka_unit_test(test_killed_before_the_end),
		cmocka_unit_test(test_a_stop_line_is_enough),
		cmocka_unit_test(test_of_an_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
