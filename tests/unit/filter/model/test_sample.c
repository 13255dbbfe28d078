/* SPDX-License-Identifier: MIT */
/* test_sample.c - names are those of PEP 669, and every op has one name and one effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/sample.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* clang-format off */
static const struct {
	const char *name;
	unsigned op;
	enum stack_effect effect;
} rows[] = {
	{ "PY_START", 4, STACK_PUSH },	    { "PY_RESUME", 5, STACK_PUSH },
	{ "PY_RETURN", 6, STACK_POP },	    { "PY_YIELD", 7, STACK_POP },
	{ "PY_UNWIND", 8, STACK_POP },	    { "PY_THROW", 9, STACK_PUSH },
	{ "CALL", 10, STACK_KEEP },	    { "C_RETURN", 11, STACK_KEEP },
	{ "C_RAISE", 12, STACK_KEEP },	    { "LINE", 13, STACK_KEEP },
	{ "INSTRUCTION", 14, STACK_KEEP },  { "JUMP", 15, STACK_KEEP },
	{ "BRANCH", 16, STACK_KEEP },	    { "BRANCH_LEFT", 17, STACK_KEEP },
	{ "BRANCH_RIGHT", 18, STACK_KEEP }, { "STOP_ITERATION", 19, STACK_KEEP },
	{ "RAISE", 20, STACK_KEEP },	    { "RERAISE", 21, STACK_KEEP },
	{ "EXCEPTION_HANDLED", 22, STACK_KEEP },
	{ "SNAPSHOT", OP_SNAPSHOT, STACK_KEEP },
	{ "FRAMES", OP_FRAMES, STACK_KEEP },
	{ "GAP", SAMPLE_GAP, STACK_KEEP },
	{ "FOREIGN", SAMPLE_FOREIGN, STACK_KEEP },
	{ "RESTART", SAMPLE_RESTART, STACK_KEEP },
	{ "TIP", SAMPLE_TIP, STACK_KEEP },
	{ "EXTENSION", OP_EXTENSION, STACK_KEEP },
};
/* clang-format on */

static void test_names_and_effects(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_string_equal(sample_op_name(rows[i].op), rows[i].name);
		assert_int_equal(sample_op_by_name(rows[i].name), rows[i].op);
		assert_int_equal(sample_op_effect(rows[i].op), rows[i].effect);
	}
}

static void test_nothing_else_has_a_name(void **state)
{
	size_t named = 0;

	(void)state;
	for (unsigned op = 0; op < 300; op++)
		named += sample_op_name(op) != NULL;
	assert_int_equal(named, COUNT(rows));
	assert_int_equal(sample_op_by_name("PY_STAR"), 0);
	assert_int_equal(sample_op_by_name("PY_STARTS"), 0);
	assert_int_equal(sample_op_by_name(""), 0);
	assert_int_equal(sample_op_effect(300), STACK_KEEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_effects),
		cmocka_unit_test(test_nothing_else_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
