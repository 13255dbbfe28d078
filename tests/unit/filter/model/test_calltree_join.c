/* SPDX-License-Identifier: MIT */
/* test_calltree_join.c - trees of several processes are one, whose order does not tell how many there were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/calltree_join.h"

static struct codes codes;
static struct code *code[3]; /* a, b, c */

static int set_up(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	for (int i = 0; i < 3; i++)
		code[i] = codes_intern(codes_process(&codes, 7), "m.py", (char[]){ 'a' + i, 0 }, i);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	codes_free(&codes);
	return 0;
}

static const struct entered {
	int32_t pid;
	int code;
	uint64_t ns;
} entered[] = { { 7, 0, 10 }, { 9, 1, 11 }, { 7, 1, 12 }, { 8, 2, 12 },
		{ 9, 2, 12 }, { 8, 0, 13 }, { 8, 1, 12 }, { 7, 0, 14 } };

/* Those of the processes from `first` to `last`, each called by the one before. */
static void enter_all(struct calltree *t, int32_t first, int32_t last)
{
	for (size_t i = 0; i < sizeof(entered) / sizeof(*entered); i++) {
		const struct entered *e = &entered[i];
		struct activation a = {
			.pid = e->pid, .tid = 1, .code = code[e->code], .op = OP_PY_START, .start_ns = e->ns
		};

		if (e->pid >= first && e->pid <= last)
			assert_int_equal(calltree_enter(t, &a), 0);
	}
}

/* In the order of calltree_paths(). */
static void check_paths(const struct calltree *t, const char *wanted)
{
	char text[128] = "";
	uint32_t n, *paths = calltree_paths(t, &n);

	assert_non_null(paths);
	for (uint32_t i = 0; i < n; i++) {
		const struct call_node *at = &t->nodes[paths[i]];

		sprintf(text + strlen(text), "%s%s%d ",
			t->nodes[at->parent].code ? t->nodes[at->parent].code->qualname : "", at->code->qualname,
			(int)at->calls);
	}
	free(paths);
	assert_string_equal(text, wanted);
}

/* 8 and 9 have a path at 12, too; what 8 says of 12 after 13 comes after that. */
#define ALL_PATHS "a1 b1 ab1 c1 bc1 ca1 ab1 ba1 "

static void test_joined(void **state)
{
	struct calltree tree = { 0 }, parts[3] = { 0 }, same = { 0 };
	const struct call_root **roots;
	uint32_t by, before;
	size_t n;

	(void)state;
	enter_all(&tree, 7, 9);
	check_paths(&tree, ALL_PATHS);
	for (int i = 2; i >= 0; i--)
		enter_all(&parts[i], 7 + i, 7 + i);
	assert_int_equal(calltree_join(&parts[2], &parts[0], &by), 0);
	before = parts[2].nnodes;
	assert_int_equal(calltree_join(&parts[2], &parts[1], &by), 0);
	assert_int_equal(by, before - 1);
	check_paths(&parts[2], ALL_PATHS);
	roots = calltree_roots(&parts[2], &n);
	assert_int_equal(n, 3);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(roots[i]->tstate.pid, 7 + i);
	assert_string_equal(parts[2].nodes[parts[2].nodes[roots[1]->root].first].code->qualname, "c");
	free(roots);
	assert_null(parts[0].nodes); /* its memory is not needed any more */
	enter_all(&same, 8, 8);
	assert_int_equal(calltree_join(&parts[2], &same, &by), -EAGAIN);
	calltree_free(&parts[2]);
	calltree_free(&tree);
}

/* Threads of one process: of those at the same time the one with the lower tid is first, however they came. */
static void enter_thread(struct calltree *t, int32_t tid, uint64_t ns)
{
	struct activation a = { .pid = 7, .tid = tid, .code = code[tid], .op = OP_PY_START, .start_ns = ns };

	assert_int_equal(calltree_enter(t, &a), 0);
	a.code = code[0];
	a.start_ns = 20;
	assert_int_equal(calltree_enter(t, &a), 0);
}

static void test_threads(void **state)
{
	struct calltree tree = { 0 }, part = { 0 };
	uint32_t by;

	(void)state;
	enter_thread(&tree, 2, 10);
	enter_thread(&tree, 1, 11);
	check_paths(&tree, "c1 b1 ba1 ca1 ");
	calltree_free(&tree);
	enter_thread(&tree, 1, 11);
	enter_thread(&part, 2, 10);
	assert_int_equal(calltree_join(&tree, &part, &by), 0);
	check_paths(&tree, "c1 b1 ba1 ca1 ");
	calltree_free(&tree);
}

static void test_nothing_to_join(void **state)
{
	struct calltree none = { 0 }, some = { 0 };
	uint32_t by;

	(void)state;
	check_paths(&none, "");
	assert_int_equal(calltree_join(&none, &some, &by), 0);
	enter_all(&some, 7, 7);
	assert_int_equal(calltree_join(&none, &some, &by), 0);
	assert_int_equal(by, 0);
	check_paths(&none, "a1 ab1 ba1 ");
	assert_int_equal(calltree_join(&none, &some, &by), 0);
	check_paths(&none, "a1 ab1 ba1 ");
	calltree_free(&none);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = { TEST(test_joined), TEST(test_threads), TEST(test_nothing_to_join) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
