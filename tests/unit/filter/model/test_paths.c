/* SPDX-License-Identifier: MIT */
/* test_paths.c - the nesting of loops in bytecode, and the paths of trips through one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "code/loop_nest.h"
#include "model/paths.h"

/* outer 4..20 with inner 8..12 (two back-edges) and inner 14..16, then 24..24 by itself, 26 a handler. */
static struct instr instrs[] = {
	{ .offset = 0 },
	{ .offset = 4 },
	{ .offset = 8 },
	{ .offset = 10, .target = 8, .back_edge = true },
	{ .offset = 12, .target = 8, .back_edge = true },
	{ .offset = 14 },
	{ .offset = 16, .target = 14, .back_edge = true },
	{ .offset = 20, .target = 4, .back_edge = true },
	{ .offset = 22, .target = 30 },
	{ .offset = 24, .target = 24, .back_edge = true },
	{ .offset = 26, .target = 99, .back_edge = true }, /* damaged: forward */
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_nest(void **state)
{
	static const int32_t of[COUNT(instrs)] = { -1, 0, 1, 1, 1, 2, 2, 0, -1, 3, -1 };
	struct code code = { .ninstrs = COUNT(instrs), .instrs = instrs };
	struct loop_nest n;

	(void)state;
	assert_int_equal(loop_nest_make(&n, &code), 0);
	assert_int_equal(n.nloops, 4);
	assert_memory_equal(n.of, of, sizeof(of));
	assert_int_equal(n.loops[1].extent.end, 12);
	assert_int_equal(n.loops[0].around, LOOP_NEST_NONE);
	assert_int_equal(n.loops[1].around, 0);
	assert_int_equal(n.loops[2].around, 0);
	assert_int_equal(n.loops[3].around, LOOP_NEST_NONE);
	assert_int_equal(loop_nest_find(&n, 14), 2);
	assert_int_equal(loop_nest_find(&n, 15), LOOP_NEST_NONE);
	assert_int_equal(loop_nest_find(&n, 99), LOOP_NEST_NONE);
	assert_true(loop_nest_within(&n, 1, 0));
	assert_true(loop_nest_within(&n, 1, 1));
	assert_true(loop_nest_within(&n, 3, LOOP_NEST_NONE));
	assert_false(loop_nest_within(&n, 0, 1));
	assert_false(loop_nest_within(&n, LOOP_NEST_NONE, 0));
	loop_nest_free(&n);
}

/* A handler at 16 continues the loop 4..6, and has one of its own; the loop 10..12 between is in neither. */
static void test_nest_with_a_handler(void **state)
{
	static struct instr handled[] = {
		{ .offset = 4, .target = 8 },
		{ .offset = 6, .target = 4, .back_edge = true },
		{ .offset = 8, .target = -1 },
		{ .offset = 10, .target = -1 },
		{ .offset = 12, .target = 10, .back_edge = true },
		{ .offset = 16, .target = -1, .handler = true },
		{ .offset = 18, .target = 18, .back_edge = true },
		{ .offset = 20, .target = 4, .back_edge = true },
		{ .offset = 22, .target = -1 },
	};
	static const int32_t of[COUNT(handled)] = { 0, 0, -1, 1, 1, 0, 2, 0, -1 };
	struct code code = { .ninstrs = COUNT(handled), .instrs = handled };
	struct loop_nest n;

	(void)state;
	assert_int_equal(loop_nest_make(&n, &code), 0);
	assert_int_equal(n.nloops, 3);
	assert_memory_equal(n.of, of, sizeof(of));
	assert_int_equal(n.loops[1].around, LOOP_NEST_NONE);
	assert_int_equal(n.loops[2].around, 0);
	loop_nest_free(&n);
}

static void test_no_bytecode(void **state)
{
	struct code code = { 0 };
	struct loop_nest n;

	(void)state;
	assert_int_equal(loop_nest_make(&n, &code), 0);
	assert_int_equal(n.nloops, 0);
	assert_int_equal(loop_nest_find(&n, 0), LOOP_NEST_NONE);
	loop_nest_free(&n);
}

static struct way way(const char *offsets)
{
	struct way w;

	way_clear(&w);
	for (; *offsets; offsets++)
		way_step(&w, *offsets, -1, *offsets - 'a' + 1);
	return w;
}

static void add(struct paths *p, const char *offsets, uint64_t cycles)
{
	struct way w = way(offsets);

	paths_add(p, &w, cycles, cycles, cycles);
}

static void test_paths(void **state)
{
	struct paths *p = calloc(1, sizeof(*p));
	uint32_t order[PATHS_MAX];

	(void)state;
	add(p, "abd", 0);
	add(p, "acd", 30);
	add(p, "acd", 50);
	add(p, "adc", 1);
	assert_int_equal(p->last, 2);
	paths_add(p, NULL, false, 0, 0);
	assert_int_equal(p->last, PATHS_MAX);
	add(p, "acd", 10);
	assert_int_equal(p->last, 1);
	assert_int_equal(p->n, 3);
	assert_int_equal(p->unknown, 1);
	assert_int_equal(paths_known(p), 5);
	assert_int_equal(p->path[0].timed, 0);
	assert_int_equal(p->path[1].trips, 3);
	assert_int_equal(p->path[1].cycles, 90);
	paths_order(p, order);
	assert_int_equal(order[0], 1);
	assert_int_equal(order[1], 0); /* as many as the next, but earlier */
	assert_int_equal(order[2], 2);
	free(p);
}

/* What a path is: the offsets and where they led, their order and their number. */
static void test_ways(void **state)
{
	struct way a = way("ab"), b = way("ba"), c = way("abb"), d;

	(void)state;
	way_clear(&d);
	way_step(&d, 'a', -1, 0);
	way_step(&d, 'b', 7, 0);
	assert_true(a.hash != b.hash && a.hash != c.hash && a.hash != d.hash);
	assert_int_equal(a.start, 'a');
	assert_int_equal(d.nlines, 0);
	assert_int_equal(c.nlines, 2); /* one after another counts once */
	assert_int_equal(c.lines[1], 2);
	a = way("abababababababababab");
	assert_int_equal(a.nlines, PATH_LINES + 1);
	assert_int_equal(a.steps, 20);
}

static void test_too_many(void **state)
{
	struct paths *p = calloc(1, sizeof(*p));
	struct way w;

	(void)state;
	for (int i = 0; i < PATHS_MAX + 5; i++) {
		way_clear(&w);
		way_step(&w, i, -1, 0);
		paths_add(p, &w, false, 0, 0);
	}
	assert_int_equal(p->n, PATHS_MAX);
	assert_int_equal(p->others, 5);
	assert_int_equal(p->last, PATHS_MAX);
	assert_int_equal(paths_known(p), PATHS_MAX + 5);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nest_with_a_handler),
		cmocka_unit_test(test_nest),
		cmocka_unit_test(test_no_bytecode),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
