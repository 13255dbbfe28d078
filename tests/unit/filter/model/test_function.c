/* SPDX-License-Identifier: MIT */
/* test_function.c - loops by their heads, costs by their offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/function.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct process process;

static void test_loops_are_sorted_and_stay(void **state)
{
	static const int64_t heads[] = { 50, 10, 90, 30, 10, 70, 0, 50, 100 };
	struct loop *loops[COUNT(heads)];
	struct code code = { .process = &process };

	(void)state;
	for (size_t i = 0; i < COUNT(heads); i++) {
		loops[i] = function_loop(&code, heads[i]);
		assert_int_equal(loops[i]->head, heads[i]);
		assert_ptr_equal(loops[i]->code, &code);
	}
	assert_int_equal(code.function->nloops, 7); /* 10 and 50 came twice */
	for (size_t i = 0; i < COUNT(heads); i++)
		assert_ptr_equal(function_loop(&code, heads[i]), loops[i]);
	for (uint32_t i = 1; i < code.function->nloops; i++)
		assert_true(code.function->loops[i - 1]->head < code.function->loops[i]->head);
	function_free(&code);
	assert_null(code.function);
}

static void test_costs(void **state)
{
	struct instr instrs[] = { { .offset = 2 }, { .offset = 4 }, { .offset = 12 } };
	struct code code = { .process = &process, .instrs = instrs, .ninstrs = COUNT(instrs) },
		    none = { .process = &process };

	(void)state;
	function_cost(&code, 4)->n = 7;
	assert_int_equal(code.function->costs[1].n, 7);
	assert_int_equal(function_cost(&code, 4)->n, 7);
	assert_ptr_equal(function_cost(&code, 12), &code.function->costs[2]);
	assert_null(function_cost(&code, 0)); /* before the first instruction */
	assert_null(function_cost(&none, 0));
	function_free(&code);
	function_free(&none);
}

/* Too many lines are refused once: the instructions are not looked at again for each event. */
static void test_too_many_lines(void **state)
{
	struct instr instrs[] = { { .offset = 2, .line = 1 }, { .offset = 4, .line = CODE_LINES_MOST + 1 } };
	struct code code = { .process = &process, .instrs = instrs, .ninstrs = COUNT(instrs) };

	(void)state;
	assert_null(function_line(&code, 1));
	instrs[1].line = 2;
	assert_null(function_line(&code, 1));
	function_free(&code);
	assert_non_null(function_line(&code, 2));
	function_free(&code);
}

/* Lines 3 to 402, two code units each: a line needs more than 127 once it is 145 below the first. */
static void test_lookups(void **state)
{
	struct instr instrs[400];
	struct code code = {
		.process = &process, .instrs = instrs, .ninstrs = COUNT(instrs), .firstlineno = 2, .units = 800
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(instrs); i++)
		instrs[i] = (struct instr){ .offset = 4 * i, .line = (int32_t)i + 3, .target = -1 };
	assert_non_null(function_line(&code, 3));
	code.function->self_ns = 1000;
	function_line(&code, 3 + 100)->n = 50; /* at hand */
	function_line(&code, 3 + 200)->n = 3;
	assert_int_equal(function_lookup_ns(&code), 0); /* not measured, or nothing */
	code.line_lookup_ns = 80;
	assert_int_equal(function_lookup_ns(&code), 3 * 80 / 2);
	function_line(&code, 3 + 144)->n = 1; /* 145 below the first, less 18 for 288 units: 127 */
	assert_int_equal(function_lookup_ns(&code), 120);
	instrs[0].target = 4 * 200; /* the line before may be the same */
	assert_int_equal(function_lookup_ns(&code), 240);
	instrs[0].target = -1;
	code.process = &(const struct process){ .looks_twice = true };
	assert_int_equal(function_lookup_ns(&code), 240);
	function_line(&code, 3 + 300)->n = 1000;
	assert_int_equal(function_lookup_ns(&code), 1000);
	code.function->self_off.ns = 400;
	assert_int_equal(function_lookup_ns(&code), 600);
	function_free(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_are_sorted_and_stay),
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_too_many_lines),
		cmocka_unit_test(test_lookups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
