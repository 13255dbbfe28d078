/* SPDX-License-Identifier: MIT */
/* test_heat.c - the lines of a function: averages of loops where only those are known, else measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/heat.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Line 11 begins, lines 12 and 13 are a loop (head 4, back-edge 10), line 15 ends; 14 has no code. */
static struct process process;

static struct instr instrs[] = {
	{ .offset = 0, .line = -1 },  { .offset = 2, .line = 11 }, { .offset = 4, .line = 12 },
	{ .offset = 6, .line = 13 },  { .offset = 8, .line = 13 }, { .offset = 10, .line = 12, .target = 4 },
	{ .offset = 12, .line = 15 },
};

static struct code make_code(void)
{
	return (struct code){ .process = &process, .instrs = instrs, .ninstrs = COUNT(instrs) };
}

static void test_lines_of_a_loop(void **state)
{
	struct code code = make_code();
	struct loop *loop = function_loop(&code, 4);
	struct heat h;

	(void)state;
	loop->entries = 1;
	loop->iterations = 11;
	for (int i = 0; i < 10; i++)
		stat_add(&loop->cycles, 40);
	assert_int_equal(heat_of(&code, &h), 0);
	assert_int_equal(h.first, 11);
	assert_int_equal(h.last, 15);
	assert_int_equal(h.source, HEAT_BLOCKS);
	assert_false(h.lines[0].known);
	assert_true(h.lines[1].cycles == 440 && h.lines[1].block == 440);
	assert_true(!h.lines[2].known && h.lines[2].block == 440);
	assert_false(h.lines[3].code);
	assert_true(h.lines[4].code && !h.lines[4].known);
	assert_true(h.lines[4].block == 0);
	assert_true(h.most == 440 && h.sum == 440);
	heat_free(&h);
	function_free(&code);
}

static void test_measured_lines(void **state)
{
	struct code code = make_code();
	struct heat h;

	(void)state;
	*function_cost(&code, 2) = (struct instr_cost){ .n = 1, .timed = 1, .cycles = 7 };
	*function_cost(&code, 4) = (struct instr_cost){ .n = 3, .timed = 3, .cycles = 30 };
	*function_cost(&code, 10) = (struct instr_cost){ .n = 2, .timed = 2, .cycles = 10 };
	assert_int_equal(heat_of(&code, &h), 0);
	assert_int_equal(h.source, HEAT_INSTRUCTIONS);
	assert_true(h.lines[0].cycles == 7);
	assert_true(h.lines[1].cycles == 40);
	assert_false(h.lines[2].known); /* it never ran */
	assert_true(h.most == 40 && h.sum == 47);
	heat_free(&h);
	function_free(&code);
}

static void test_lines_by_their_events(void **state)
{
	struct code code = make_code();
	struct heat h;

	(void)state;
	*function_line(&code, 11) = (struct line_cost){ 1, 7 };
	*function_line(&code, 15) = (struct line_cost){ 2, 30 };
	assert_null(function_line(&code, 10));
	assert_null(function_line(&code, 16));
	assert_null(function_line(&code, INT64_MAX));
	assert_null(function_line(&code, -1));
	assert_int_equal(heat_of(&code, &h), 0);
	assert_int_equal(h.source, HEAT_LINES);
	assert_true(h.lines[0].cycles == 7 && h.lines[4].cycles == 30);
	assert_false(h.lines[1].known); /* it never ran */
	assert_true(h.most == 30 && h.sum == 37);
	heat_free(&h);
	function_free(&code);
}

/* Of lines, of instructions, and of a loop without what its inner one waited. */
static void test_waiting(void **state)
{
	static struct instr nested[] = {
		{ .offset = 0, .line = 1 },
		{ .offset = 2, .line = 2 },
		{ .offset = 4, .line = 3 },
		{ .offset = 6, .line = 3, .target = 4 },
		{ .offset = 8, .line = 2, .target = 2 },
	};
	struct code code = make_code(), other = make_code(),
		    loops = { .process = &process, .instrs = nested, .ninstrs = COUNT(nested) };
	struct loop *outer = function_loop(&loops, 2), *inner = function_loop(&loops, 4);
	struct heat h;

	(void)state;
	*function_line(&code, 11) = (struct line_cost){ 1, 7, 5 };
	*function_line(&code, 15) = (struct line_cost){ 2, 30, 6 };
	assert_int_equal(heat_of(&code, &h), 0);
	assert_true(h.lines[0].waiting_ns == 5 && h.lines[4].waiting_ns == 6 && h.most_waiting == 6);
	heat_free(&h);
	*function_cost(&other, 4) = (struct instr_cost){ .n = 1, .timed = 1, .cycles = 30, .waiting_ns = 8 };
	*function_cost(&other, 10) = (struct instr_cost){ .n = 1, .timed = 1, .cycles = 10, .waiting_ns = 1 };
	assert_int_equal(heat_of(&other, &h), 0);
	assert_true(h.lines[1].waiting_ns == 9 && h.most_waiting == 9);
	heat_free(&h);
	outer->iterations = inner->iterations = 2;
	stat_add(&outer->cycles, 400);
	stat_add(&inner->cycles, 100);
	outer->off.waiting_ns = 50;
	inner->off.waiting_ns = 20;
	assert_int_equal(heat_of(&loops, &h), 0);
	assert_true(h.lines[0].waiting_ns == 0 && h.lines[1].waiting_ns == 30 && h.lines[2].waiting_ns == 20);
	heat_free(&h);
	function_free(&code);
	function_free(&other);
	function_free(&loops);
}

static void test_no_lines(void **state)
{
	struct instr far[] = { { .offset = 0, .line = 1 }, { .offset = 2, .line = INT32_MAX } };
	struct instr bare[] = { { .offset = 0, .line = -1 } };
	struct code codes[] = { { .process = &process },
				{ .process = &process, .instrs = far, .ninstrs = 2 },
				{ .process = &process, .instrs = bare, .ninstrs = 1 } };
	struct heat h;

	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++) {
		assert_non_null(function_of(&codes[i]));
		assert_int_equal(heat_of(&codes[i], &h), 0);
		assert_true(h.last < h.first);
		assert_int_equal(h.many, i == 1);
		assert_true(h.most == 0);
		heat_free(&h);
		function_free(&codes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_a_loop),
		cmocka_unit_test(test_measured_lines),
		cmocka_unit_test(test_lines_by_their_events),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
