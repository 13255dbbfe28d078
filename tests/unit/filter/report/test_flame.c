/* SPDX-License-Identifier: MIT */
/* test_flame.c - a path too narrow for the page is cut: what it cost is below the nearest caller that is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/flame.h"

/* Each level walked once for each level below it would be 10^12 steps. */
#define DEEP 1000000

static struct codes codes;
static struct calltree tree;
static struct flame flame;
static struct flame_view view;

static int set_up(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	tree = (struct calltree){ 0 };
	flame = (struct flame){ 0 };
	view = (struct flame_view){ 0 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	flame_view_free(&view);
	flame_free(&flame);
	calltree_free(&tree);
	codes_free(&codes);
	return 0;
}

static struct activation call(const char *name, uint64_t callee_ns)
{
	struct code *code = codes_intern(codes_process(&codes, 7), "m.py", name, 1);

	return (struct activation){ .pid = 7, .tid = 7, .code = code, .op = OP_PY_START, .callee_ns = callee_ns };
}

static void enter(const char *name)
{
	struct activation a = call(name, 0);

	assert_int_equal(calltree_enter(&tree, &a), 0);
}

static void leave(const char *name, uint64_t ns, uint64_t callee_ns)
{
	struct activation a = call(name, callee_ns);

	assert_int_equal(calltree_leave(&tree, &a, ns, ns), 0);
}

static void make(void)
{
	const struct call_root *r = (const struct call_root *)tree.roots.all;

	assert_int_equal(flame_make(&flame, &tree), 0);
	assert_int_equal(flame_view_make(&view, &flame), 0);
	assert_int_equal(flame_view_add(&view, &flame, r->root), 0);
}

/* 60 ms and 60,000 calls of `wide`; 30 ns of `narrow` and `inner`, and two calls. */
static void test_cut(void **state)
{
	(void)state;
	enter("main");
	for (int i = 0; i < 3 * FLAME_PARTS; i++) {
		enter("wide");
		leave("wide", 1000, 0);
	}
	enter("narrow");
	enter("inner");
	leave("inner", 10, 0);
	leave("narrow", 30, 10);
	leave("main", 3000ull * FLAME_PARTS + 35, 3000ull * FLAME_PARTS + 30);
	make();
	assert_int_equal(flame.nnodes, 5);
	assert_int_equal(flame.nshown, 3); /* the whole run, main, wide */
	assert_int_equal(flame.nodes[2].of, 2);
	assert_int_equal(flame.nodes[3].of, ~1);
	assert_int_equal(flame.nodes[4].of, ~1);
	assert_int_equal(view.own[1].of[FLAME_WALL], 5);
	assert_int_equal(view.cut[1].of[FLAME_WALL], 30);
	assert_int_equal(view.cut[1].of[FLAME_CALLS], 2);
	assert_int_equal(view.own[2].of[FLAME_CALLS], 3 * FLAME_PARTS);
}

static void test_deep(void **state)
{
	uint64_t calls = 0;

	(void)state;
	for (int i = 0; i < DEEP; i++)
		enter("f");
	for (int i = 0; i < DEEP; i++)
		leave("f", 5, 5);
	make();
	assert_int_equal(flame.nnodes, 1 + DEEP);
	assert_in_range(flame.nshown, 2, FLAME_NODES);
	assert_int_equal(flame.nodes[DEEP].of, ~(int32_t)(flame.nshown - 1));
	for (uint32_t i = 0; i < flame.nshown; i++)
		calls += view.own[i].of[FLAME_CALLS] + view.cut[i].of[FLAME_CALLS];
	assert_int_equal(calls, DEEP);
	assert_int_equal(view.cut[flame.nshown - 1].of[FLAME_CALLS], DEEP - (flame.nshown - 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deep, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
