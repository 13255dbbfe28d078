/* SPDX-License-Identifier: MIT */
/* test_body.c - a loop's instructions, the blocks they are in, and what was measured of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/body.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* for (head 4, back-edge 20) { for (head 8, back-edge 12) { } } then a loop at 24 of its own */
static struct process process;

static struct instr instrs[] = {
	{ .offset = 0, .line = 1 },   { .offset = 2, .line = 2 },
	{ .offset = 4, .line = 2 },   { .offset = 8, .line = 3 },
	{ .offset = 10, .line = 3 },  { .offset = 12, .line = 3, .target = 8 },
	{ .offset = 16, .line = 2 },  { .offset = 20, .line = 2, .target = 4 },
	{ .offset = 24, .line = -1 }, { .offset = 26, .line = 4, .target = 24 },
	{ .offset = 28, .line = 5 },
};

static struct code make_code(void)
{
	return (struct code){ .process = &process, .instrs = instrs, .ninstrs = COUNT(instrs) };
}

/* A loop with `timed` trips of `cycles` each in `entries` entries. */
static struct loop *make_loop(struct code *code, int64_t head, uint64_t entries, uint64_t timed, uint64_t cycles)
{
	struct loop *loop = function_loop(code, head);

	assert_non_null(loop);
	loop->entries = entries;
	loop->iterations = entries + timed;
	for (uint64_t i = 0; i < timed; i++)
		stat_add(&loop->cycles, cycles);
	return loop;
}

/* cycles: of the instruction if it was measured, else of its block; -1: not known. */
static void assert_rows(const struct loop *loop, const unsigned *offsets, const double *cycles, size_t n)
{
	struct body_row rows[COUNT(instrs)];

	assert_int_equal(body_rows(loop, rows, COUNT(rows)), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].instr->offset, offsets[i]);
		assert_true(rows[i].measured || (!rows[i].known && !rows[i].cycles && !rows[i].times));
		if (rows[i].measured)
			assert_int_equal(rows[i].known, cycles[i] >= 0);
		else
			assert_int_equal(rows[i].block && rows[i].block->cycles.n, cycles[i] >= 0);
		if (cycles[i] >= 0)
			assert_true((rows[i].known ? rows[i].cycles : body_block_cycles(rows[i].block)) == cycles[i]);
	}
}

/* x: the first of its block. */
static void assert_places(const struct loop *loop, const unsigned *numbers, const char *first)
{
	struct body_row rows[COUNT(instrs)];
	size_t n = body_rows(loop, rows, COUNT(rows));

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows[i].block_number, numbers[i]);
		assert_int_equal(rows[i].first_of_block, first[i] == 'x');
	}
}

static void test_one_block(void **state)
{
	struct code code = make_code();

	(void)state;
	assert_rows(make_loop(&code, 24, 1, 10, 30), (unsigned[]){ 24, 26 }, (double[]){ 30, 30 }, 2);
	function_free(&code);
}

/* 10 outer trips of 1000 cycles, in each 9 timed inner trips of 60 and one that was not timed. */
static void test_inner_trips_are_not_the_outer_loop_s(void **state)
{
	struct code code = make_code();
	struct loop *outer = make_loop(&code, 4, 1, 9, 1000), *inner = make_loop(&code, 8, 10, 90, 60);

	(void)state;
	assert_rows(inner, (unsigned[]){ 8, 10, 12 }, (double[]){ 60, 60, 60 }, 3);
	assert_rows(outer, (unsigned[]){ 4, 8, 10, 12, 16, 20 }, (double[]){ 400, 60, 60, 60, 400, 400 }, 6);
	assert_places(outer, (unsigned[]){ 1, 2, 2, 2, 1, 1 }, "xx....");
	function_free(&code);
}

static void test_no_block_costs_less_than_nothing(void **state)
{
	struct code code = make_code();
	struct loop *outer = make_loop(&code, 4, 1, 9, 100);

	(void)state;
	make_loop(&code, 8, 10, 90, 60);
	assert_rows(outer, (unsigned[]){ 4, 8, 10, 12, 16, 20 }, (double[]){ 0, 60, 60, 60, 0, 0 }, 6);
	function_free(&code);
}

static void test_untimed_loop(void **state)
{
	struct code code = make_code();

	(void)state;
	assert_rows(make_loop(&code, 24, 5, 0, 0), (unsigned[]){ 24, 26 }, (double[]){ -1, -1 }, 2);
	function_free(&code);
}

static void test_measured_instructions(void **state)
{
	struct code code = make_code();
	struct loop *loop = make_loop(&code, 24, 1, 10, 30);
	struct body_row rows[COUNT(instrs)];

	(void)state;
	*function_cost(&code, 26) = (struct instr_cost){ .n = 5, .timed = 4, .cycles = 50 };
	assert_rows(loop, (unsigned[]){ 24, 26 }, (double[]){ -1, 12.5 }, 2);
	body_rows(loop, rows, COUNT(rows));
	assert_true(rows[0].measured && rows[1].measured);
	function_free(&code);
}

/*
 * A loop 4..12 that a handler at 40 continues, with a loop 44..46 in that handler; then a loop 20..24. And 8, which
 * another handler jumps back to, is a loop only if a trip of it was timed.
 */
static struct instr handled[] = {
	{ .offset = 4, .target = -1 },
	{ .offset = 8, .target = -1 },
	{ .offset = 12, .target = 4 },
	{ .offset = 20, .target = -1 },
	{ .offset = 24, .target = 20 },
	{ .offset = 30, .target = -1 },
	{ .offset = 40, .target = -1, .handler = true },
	{ .offset = 44, .target = -1 },
	{ .offset = 46, .target = 44 },
	{ .offset = 48, .target = 4 },
	{ .offset = 50, .target = -1, .handler = true },
	{ .offset = 52, .target = 8 },
};

/* Each trip of the first one takes 90 cycles, 20 of them in its handler's loop. */
static void test_handlers_are_apart(void **state)
{
	struct code code = { .process = &process, .instrs = handled, .ninstrs = COUNT(handled) };
	struct loop *first = make_loop(&code, 4, 1, 9, 90), *next = make_loop(&code, 20, 1, 9, 5000);
	struct loop *in_handler = make_loop(&code, 44, 10, 10, 10);

	(void)state;
	assert_rows(first, (unsigned[]){ 4, 8, 12 }, (double[]){ 70, 70, 70 }, 3);
	assert_rows(next, (unsigned[]){ 20, 24 }, (double[]){ 5000, 5000 }, 2);
	assert_rows(in_handler, (unsigned[]){ 44, 46 }, (double[]){ 10, 10 }, 2);
	assert_null(body_block(code.function, 30));
	assert_null(body_block(code.function, 40));
	assert_null(body_block(code.function, 48));
	function_free(&code);
}

static void test_what_only_a_handler_repeats(void **state)
{
	struct code code = { .process = &process, .instrs = handled, .ninstrs = COUNT(handled) };
	struct loop *loop = make_loop(&code, 4, 1, 9, 90), *target = make_loop(&code, 8, 5, 0, 0);

	(void)state;
	assert_ptr_equal(body_block(code.function, 8), loop);
	assert_null(body_block(code.function, 24));
	stat_add(&target->cycles, 10);
	assert_ptr_equal(body_block(code.function, 8), target);
	function_free(&code);
}

static void test_lines(void **state)
{
	struct code code = make_code(), none = { .process = &process };

	(void)state;
	assert_int_equal(function_loop(&code, 4)->line, 2);
	assert_int_equal(function_loop(&code, 24)->line, 0);
	assert_int_equal(function_loop(&none, 4)->line, 0);
	function_free(&code);
	function_free(&none);
}

static void test_unknown_bytecode_has_no_rows(void **state)
{
	struct code none = { .process = &process };
	struct body_row row;

	(void)state;
	assert_int_equal(body_rows(make_loop(&none, 4, 1, 3, 10), &row, 1), 0);
	function_free(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_block),
		cmocka_unit_test(test_inner_trips_are_not_the_outer_loop_s),
		cmocka_unit_test(test_no_block_costs_less_than_nothing),
		cmocka_unit_test(test_untimed_loop),
		cmocka_unit_test(test_measured_instructions),
		cmocka_unit_test(test_handlers_are_apart),
		cmocka_unit_test(test_what_only_a_handler_repeats),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unknown_bytecode_has_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
