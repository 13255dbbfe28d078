/* SPDX-License-Identifier: MIT */
/* test_calltree.c - each path once, whatever the threads and interpreters do, and what it cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/callers.h"

static struct codes codes;
static struct calltree tree;
static struct code *code[4]; /* a, b, c, d */

static int set_up(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	tree = (struct calltree){ 0 };
	for (int i = 0; i < 4; i++)
		code[i] = codes_intern(codes_process(&codes, 7), "m.py", (char[]){ 'a' + i, 0 }, i);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	calltree_free(&tree);
	codes_free(&codes);
	return 0;
}

static void enter(int32_t tid, uint32_t interpreter, int c, uint8_t op)
{
	struct activation a = { .pid = 7, .tid = tid, .interpreter = interpreter, .code = code[c], .op = op };

	assert_int_equal(calltree_enter(&tree, &a), 0);
}

/* It took `ns`, of which `callee_ns` were not its own. */
static void leave(int32_t tid, uint32_t interpreter, int c, uint64_t ns, uint64_t callee_ns)
{
	struct activation a = { .pid = 7,
				.tid = tid,
				.interpreter = interpreter,
				.code = code[c],
				.start_ns = 1000,
				.start_cycles = 5000,
				.callee_ns = callee_ns,
				.callee_cycles = 2 * callee_ns };

	assert_int_equal(calltree_leave(&tree, &a, 1000 + ns, 5000 + 2 * ns), 0);
}

/* The same of one that has no place in the tree. */
static void pass(int32_t tid, uint64_t ns, uint64_t callee_ns)
{
	struct activation a = { .pid = 7, .tid = tid, .code = code[3], .callee_ns = callee_ns };

	a.callee_cycles = 2 * callee_ns;
	assert_int_equal(calltree_pass(&tree, &a, ns, 2 * ns), 0);
}

static int write_enter(void *to, uint32_t node)
{
	const struct call_node *n = &tree.nodes[node];
	char *text = to;

	assert_true(n->cycles == 2 * n->ns && n->self_cycles == 2 * n->self_ns);
	sprintf(text + strlen(text), "%s%d+%d:%d-%d(", n->code->qualname, (int)n->calls, (int)n->resumes, (int)n->ns,
		(int)n->self_ns);
	return 0;
}

static int write_leave(void *to, uint32_t node)
{
	(void)node;
	strcat(to, ")");
	return 0;
}

static void check(const char *wanted)
{
	char text[512] = "";
	size_t n;
	const struct call_root **roots = calltree_roots(&tree, &n);

	for (size_t i = 0; i < n; i++) {
		sprintf(text + strlen(text), "%s%d/%d ", i ? " " : "", roots[i]->tstate.tid,
			(int)roots[i]->tstate.interpreter);
		assert_int_equal(calltree_walk(&tree, roots[i]->root, write_enter, write_leave, text), 0);
	}
	free(roots);
	assert_string_equal(text, wanted);
}

static void test_empty(void **state)
{
	(void)state;
	check("");
}

static void test_paths(void **state)
{
	(void)state;
	enter(1, 0, 0, OP_PY_START);
	for (int i = 0; i < 2; i++) {
		enter(1, 0, 1, OP_PY_START);
		enter(1, 0, 2, i ? OP_PY_RESUME : OP_PY_START);
		leave(1, 0, 2, 10, 0);
		leave(1, 0, 1, 30, 10);
		enter(1, 0, 2, OP_PY_THROW);
		leave(1, 0, 2, 1, 0);
	}
	leave(1, 0, 0, 100, 62);
	enter(1, 0, 3, OP_JUMP); /* was open before the trace: adopted */
	leave(1, 0, 3, 7, 0);
	check("1/0 a1+0:100-38(b2+0:60-40(c1+1:20-20())c0+2:2-2())d0+0:7-7()");
}

static void calls(int c, uint64_t n, uint64_t ns)
{
	struct activation first = { .pid = 7, .tid = 1, .code = code[c], .op = OP_PY_START, .start_ns = 1000 };
	struct call_root *r = calltree_root_of(&tree, &first);

	assert_int_equal(calltree_calls_on(&tree, r, &first, 0, &(struct call_sums){ n, ns, 2 * ns }), 0);
}

/* Also the first there, and behind others. */
static void test_calls_in_a_row(void **state)
{
	(void)state;
	enter(1, 0, 0, OP_PY_START);
	calls(1, 5, 40);
	calls(2, 1, 3);
	enter(1, 0, 1, OP_PY_START);
	calls(1, 2, 4);
	leave(1, 0, 1, 10, 4);
	calls(1, 7, 50);
	leave(1, 0, 0, 200, 103);
	check("1/0 a1+0:200-97(b13+0:100-96(b2+0:4-4())c1+0:3-3())");
}

static void span(int c, bool begins, uint64_t ns)
{
	struct label_mark m = { .pid = 7, .tid = 1, .name = code[c], .ns = ns, .cycles = 2 * ns };

	assert_int_equal((begins ? calltree_begin_span : calltree_end_span)(&tree, &m), 0);
}

/* a from 0 to 100; in it span d from 10 to 60, in that b for 20, and span c for 10. */
static void test_spans(void **state)
{
	(void)state;
	code[3]->label = code[2]->label = true;
	span(2, false, 5); /* began before the trace */
	enter(1, 0, 0, OP_PY_START);
	span(3, true, 10);
	enter(1, 0, 1, OP_PY_START);
	leave(1, 0, 1, 20, 0);
	span(2, true, 40);
	span(2, false, 50);
	span(3, false, 60);
	enter(1, 0, 1, OP_PY_START);
	leave(1, 0, 1, 5, 0);
	leave(1, 0, 0, 100, 25);
	check("1/0 a1+0:100-45(d0+0:50-20(b1+0:20-20()c0+0:10-10())b1+0:5-5())");
}

/* A path is off a CPU without what it calls. */
static void test_off(void **state)
{
	struct activation outer = { .pid = 7, .tid = 1, .code = code[0], .op = OP_PY_START, .off = { 60, 50 } };
	struct activation inner = { .pid = 7, .tid = 1, .code = code[1], .op = OP_PY_START, .off = { 20, 15 } };
	struct off self;

	(void)state;
	assert_int_equal(calltree_enter(&tree, &outer), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(calltree_enter(&tree, &inner), 0);
		assert_int_equal(calltree_leave(&tree, &inner, 25, 25), 0);
	}
	assert_int_equal(calltree_leave(&tree, &outer, 100, 100), 0);
	self = calltree_self_off(&tree, tree.nodes[1].first);
	assert_true(self.ns == 20 && self.waiting_ns == 20);
}

/* Its own time is its caller's, and so are its callees. */
static void test_passed(void **state)
{
	(void)state;
	enter(1, 0, 0, OP_PY_START);
	enter(1, 0, 1, OP_PY_START);
	leave(1, 0, 1, 10, 0);
	pass(1, 15, 10);
	pass(1, 4, 0);
	leave(1, 0, 0, 30, 19);
	check("1/0 a1+0:30-20(b1+0:10-10())");
}

/* a and b are one; d has no place. */
static int64_t number(void *of, struct code *c)
{
	(void)of;
	return c == code[3] ? CALLTREE_PASS : c == code[2] ? 2 : 1;
}

static void test_merged(void **state)
{
	struct calltree threads, merged = { 0 };
	const struct call_root **roots;
	uint32_t root = CALLTREE_NONE;
	char text[512] = "";
	size_t n;

	(void)state;
	enter(1, 0, 0, OP_PY_START);
	enter(1, 0, 3, OP_PY_START);
	enter(1, 0, 2, OP_PY_START);
	leave(1, 0, 2, 10, 0);
	leave(1, 0, 3, 15, 10);
	leave(1, 0, 0, 30, 15);
	enter(2, 0, 1, OP_PY_RESUME);
	enter(2, 0, 2, OP_PY_START);
	leave(2, 0, 2, 3, 0);
	leave(2, 0, 1, 5, 3);
	roots = calltree_roots(&tree, &n);
	assert_int_equal(n, 2);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(calltree_merge(&merged, &root, &tree, roots[i]->root, number, NULL), 0);
	free(roots);
	threads = tree; /* the walk's callbacks read that */
	tree = merged;
	assert_int_equal(calltree_walk(&tree, root, write_enter, write_leave, text), 0);
	assert_string_equal(text, "a1+1:35-22(c2+0:13-13())");
	tree = threads;
	calltree_free(&merged);
}

static void test_threads_and_interpreters(void **state)
{
	(void)state;
	enter(2, 0, 0, OP_PY_START);
	enter(1, 0, 0, OP_PY_START);
	enter(1, 3, 1, OP_PY_START);
	enter(2, 0, 1, OP_PY_START);
	leave(1, 3, 1, 5, 0);
	enter(1, 0, 2, OP_PY_START);
	leave(2, 0, 1, 4, 0);
	leave(1, 0, 2, 6, 0);
	leave(1, 0, 0, 9, 6);
	leave(2, 0, 0, 8, 4);
	check("1/0 a1+0:9-3(c1+0:6-6()) 1/3 b1+0:5-5() 2/0 a1+0:8-4(b1+0:4-4())");
}

static int stop(void *to, uint32_t node)
{
	(void)node;
	return ++*(int *)to == 2 ? -7 : 0;
}

static void test_walk_that_ends(void **state)
{
	int n = 0;

	(void)state;
	enter(1, 0, 0, OP_PY_START);
	enter(1, 0, 1, OP_PY_START);
	enter(1, 0, 2, OP_PY_START);
	assert_int_equal(calltree_walk(&tree, ((struct call_root *)tree.roots.at)->root, stop, NULL, &n), -7);
	assert_int_equal(n, 2);
}

/* Many paths and a deep one: every node is found again after the array and the map have grown. */
static void test_many(void **state)
{
	enum { DEPTH = 50000 };
	uint32_t nodes = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < DEPTH; i++)
			enter(1, 0, i * 7 % 4, OP_PY_START);
		for (int i = DEPTH; i-- > 0;)
			leave(1, 0, i * 7 % 4, 1, 0);
		assert_true(!nodes || nodes == tree.nnodes);
		nodes = tree.nnodes;
	}
	assert_int_equal(nodes, DEPTH + 2); /* with number 0 and the root */
}

static const struct call_sum *sum_of(const struct callers *c, int caller, int callee)
{
	for (uint32_t i = 0; caller < 0 && i < c->nfunctions; i++)
		if (c->functions[i].code == code[callee])
			return &c->functions[i].sum;
	for (uint32_t i = 0; i < c->nedges; i++)
		if (c->functions[c->edges[i].caller].code == code[caller < 0 ? 0 : caller] &&
		    c->functions[c->edges[i].callee].code == code[callee])
			return &c->edges[i].sum;
	fail_msg("no sum of %d by %d", callee, caller);
	return NULL;
}

/* a calls b calls a calls b, and a calls a: what _lsprof.c would count. */
static const struct {
	int caller, callee; /* -1: all callers */
	uint64_t calls, recursive, self_ns, total_ns;
} sums[] = {
	{ -1, 0, 3, 2, 60, 100 }, { -1, 1, 2, 1, 40, 70 }, { 0, 1, 2, 1, 40, 70 },
	{ 1, 0, 1, 0, 20, 40 },	  { 0, 0, 1, 0, 20, 20 },
};

static void test_callers(void **state)
{
	struct callers c;

	(void)state;
	enter(1, 0, 0, OP_PY_START);
	enter(1, 0, 1, OP_PY_START);
	enter(1, 0, 0, OP_PY_START);
	enter(1, 0, 1, OP_PY_START);
	leave(1, 0, 1, 20, 0);
	leave(1, 0, 0, 40, 20);
	leave(1, 0, 1, 70, 50);
	enter(1, 0, 0, OP_PY_RESUME);
	leave(1, 0, 0, 20, 0);
	leave(1, 0, 0, 100, 80);
	assert_int_equal(callers_sum(&c, &tree, NULL), 0);
	assert_int_equal(c.nfunctions, 2);
	assert_int_equal(c.nedges, 3);
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		const struct call_sum *s = sum_of(&c, sums[i].caller, sums[i].callee);

		assert_int_equal(s->calls, sums[i].calls);
		assert_int_equal(s->recursive, sums[i].recursive);
		assert_int_equal(s->self_ns, sums[i].self_ns);
		assert_int_equal(s->total_ns, sums[i].total_ns);
		assert_int_equal(s->total_cycles, 2 * sums[i].total_ns);
		assert_int_equal(s->open, 0);
	}
	callers_free(&c);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_empty),
		TEST(test_calls_in_a_row),
		TEST(test_paths),
		TEST(test_passed),
		TEST(test_off),
		TEST(test_merged),
		TEST(test_threads_and_interpreters),
		TEST(test_walk_that_ends),
		TEST(test_many),
		TEST(test_callers),
		TEST(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
