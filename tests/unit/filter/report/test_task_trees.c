/* SPDX-License-Identifier: MIT */
/* test_task_trees.c - a task's tree has all that it did and nothing else; there are never too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/task_trees.h"

static struct code loop = { .id = 1 }, task = { .id = 2, .coroutine = true }, inner = { .id = 3, .coroutine = true },
		   plain = { .id = 4 };

struct run {
	struct calltree calls;
	struct task_trees trees;
	struct activation stack[8];
	unsigned depth;
	int32_t tid;
};

static void enter(struct run *r, struct code *code, uint64_t ns)
{
	struct activation *a = &r->stack[r->depth++];

	*a = (struct activation){ .pid = 1, .tid = r->tid, .code = code, .op = OP_PY_START, .start_ns = ns };
	assert_int_equal(calltree_enter(&r->calls, a), 0);
	assert_int_equal(task_trees_enter(&r->trees, a), 0);
}

/* Its callees, and what it waited, are the caller's, too. */
static void leave(struct run *r, uint64_t ns, uint64_t waited_ns)
{
	struct activation *a = &r->stack[--r->depth], *around = r->depth ? a - 1 : NULL;
	uint32_t node = calltree_at(&r->calls, a);

	off_add(&a->off, (struct off){ waited_ns, waited_ns });
	assert_int_equal(task_trees_leave(&r->trees, &r->calls, a, node, ns, 0), 0);
	assert_int_equal(calltree_leave(&r->calls, a, ns, 0), 0);
	if (around) {
		around->callee_ns += ns - a->start_ns;
		off_add(&around->off, a->off);
	}
}

static void mark(struct run *r, uint64_t number, struct code *code, uint64_t ns)
{
	const struct task_mark m = {
		.pid = 1, .task = number, .kind = CRITICAL_RUNNING, .coroutine = code, .until_ns = ns, .tid = r->tid
	};

	task_trees_mark(&r->trees, &m);
}

static const struct task_tree *tree_of(const struct run *r, uint64_t number)
{
	for (uint32_t i = 0; i < r->trees.n; i++)
		if (r->trees.all[i].number == number)
			return &r->trees.all[i];
	return NULL;
}

static const struct flame_values *own_of(const struct run *r, const struct task_tree *t, const struct code *code)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (r->calls.nodes[t->paths[i].node].code == code)
			return &t->paths[i].own;
	return NULL;
}

static void end(struct run *r)
{
	task_trees_free(&r->trees);
	calltree_free(&r->calls);
}

/* Two steps, in which it calls plain() and awaits inner(); between them the loop calls plain(). */
static void step(struct run *r, uint64_t number, uint64_t ns)
{
	enter(r, &task, ns);
	enter(r, &inner, ns + 10);
	enter(r, &plain, ns + 20);
	leave(r, ns + 60, 30);
	leave(r, ns + 70, 5);
	mark(r, number, &task, ns + 100);
	leave(r, ns + 100, 0);
}

static void test_sums(void **state)
{
	struct run r = { .tid = 1 };
	const struct task_tree *t;

	(void)state;
	enter(&r, &loop, 0);
	step(&r, 7, 100);
	enter(&r, &plain, 300);
	leave(&r, 350, 20);
	step(&r, 7, 400);
	leave(&r, 1000, 0);
	t = tree_of(&r, 7);
	assert_int_equal(r.trees.n, 1);
	assert_int_equal(t->ns, 200);
	assert_int_equal(t->n, 3);
	assert_int_equal(own_of(&r, t, &task)->of[FLAME_WALL], 80);
	assert_int_equal(own_of(&r, t, &task)->of[FLAME_WAITING], 0);
	assert_int_equal(own_of(&r, t, &inner)->of[FLAME_WALL], 40);
	assert_int_equal(own_of(&r, t, &inner)->of[FLAME_WAITING], 10);
	assert_int_equal(own_of(&r, t, &plain)->of[FLAME_WALL], 80);
	assert_int_equal(own_of(&r, t, &plain)->of[FLAME_WAITING], 60);
	assert_int_equal(own_of(&r, t, &plain)->of[FLAME_CALLS], 2);
	end(&r);
}

/* A coroutine that no task runs has none, whatever a mark of another one says; and what it did is nobody's. */
static void test_no_task(void **state)
{
	struct run r = { .tid = 1 };

	(void)state;
	enter(&r, &task, 0);
	mark(&r, 1, &inner, 100);
	leave(&r, 100, 0);
	enter(&r, &task, 200);
	mark(&r, 1, &task, 250); /* not where it ends */
	leave(&r, 300, 0);
	assert_int_equal(r.trees.n, 0);
	step(&r, 2, 400);
	assert_int_equal(tree_of(&r, 2)->ns, 100);
	end(&r);
}

/* A task in a coroutine that is not one has its own part only. */
static void test_inside(void **state)
{
	struct run r = { .tid = 1 };

	(void)state;
	enter(&r, &inner, 0);
	enter(&r, &plain, 10);
	step(&r, 3, 100);
	leave(&r, 300, 0);
	leave(&r, 400, 0);
	assert_int_equal(r.trees.n, 1);
	assert_int_equal(tree_of(&r, 3)->ns, 100);
	end(&r);
}

/* Other threads' steps are at the same time. */
static void test_threads(void **state)
{
	struct run r = { .tid = 1 };

	(void)state;
	enter(&r, &task, 0);
	r.tid = 2;
	r.depth = 4;
	step(&r, 5, 10);
	r.tid = 1;
	r.depth = 1;
	mark(&r, 6, &task, 500);
	leave(&r, 500, 0);
	assert_int_equal(tree_of(&r, 5)->ns, 100);
	assert_int_equal(tree_of(&r, 6)->ns, 500);
	end(&r);
}

/* Long ones remain; one that made room does not come back with the rest of what it does. */
static void test_most(void **state)
{
	struct run r = { .tid = 1 };
	uint64_t n = 3 * TASK_TREES_MOST, ns = 0;

	(void)state;
	for (uint64_t i = 1; i <= n; i++, ns += 1000) {
		if (i % TASK_TREES_MOST == 9)
			step(&r, i, ns);
		step(&r, i, ns + 200);
		assert_true(r.trees.n <= TASK_TREES_MOST);
	}
	assert_int_equal(tree_of(&r, 9)->ns, 200);
	assert_null(tree_of(&r, TASK_TREES_MOST));
	step(&r, TASK_TREES_MOST, ns);
	assert_null(tree_of(&r, TASK_TREES_MOST));
	step(&r, 9, ns + 200);
	assert_int_equal(tree_of(&r, 9)->ns, 300);
	task_trees_sort(&r.trees);
	assert_int_equal(r.trees.all[0].number, 9);
	end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),	cmocka_unit_test(test_no_task), cmocka_unit_test(test_inside),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
