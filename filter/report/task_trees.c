// SPDX-License-Identifier: MIT
#include "task_trees.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

static struct task_step *step_of(struct task_trees *t, const struct activation *a)
{
	return tstate_of(&t->steps, a->pid, a->tid, a->interpreter, sizeof(struct task_step));
}

int task_trees_enter(struct task_trees *t, const struct activation *a)
{
	struct task_step *s = step_of(t, a);

	if (!s)
		return -ENOMEM;
	s->depth += s->depth || a->code->coroutine;
	return 0;
}

/* Nodes of the call tree became more. */
static int grow(struct task_trees *t, const struct calltree *tree)
{
	if (tree->nnodes <= t->nscratch)
		return 0;
	if (!ARRAY_RESIZE(t->scratch, tree->size))
		return -ENOMEM;
	for (; t->nscratch < tree->size; t->nscratch++)
		t->scratch[t->nscratch] = (struct scratch){ 0 };
	return 0;
}

/* NULL: no memory. */
static struct flame_values *touch(struct task_trees *t, struct task_step *s, uint32_t node)
{
	struct scratch *at = &t->scratch[node];

	if (!at->touched && !ARRAY_ROOM(s->touched, s->n, s->room))
		return NULL;
	if (!at->touched)
		s->touched[s->n++] = node;
	at->touched = true;
	return &at->own;
}

/* What its callees were off a CPU is in its own, until it is taken off here: they are left first. */
static int collect(struct task_trees *t, struct task_step *s, const struct calltree *tree, uint32_t node,
		   const struct flame_values *own)
{
	struct flame_values *to, *around;

	if (grow(t, tree) || !(to = touch(t, s, node)))
		return -ENOMEM;
	flame_add(to, own);
	if (s->depth == 1)
		return 0;
	around = touch(t, s, tree->nodes[node].parent);
	if (!around)
		return -ENOMEM;
	around->of[FLAME_WAITING] -= own->of[FLAME_WAITING];
	around->of[FLAME_PREEMPTED] -= own->of[FLAME_PREEMPTED];
	return 0;
}

static int by_ns(const void *left, const void *right)
{
	const struct task_tree *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void free_tree(struct task_tree *t)
{
	map_free(&t->at);
	free(t->paths);
}

/* Half of what there may be remains, of those with most time. 0 or -ENOMEM. */
static int make_room(struct task_trees *t)
{
	uint32_t n = t->n;
	int err = 0;

	task_trees_sort(t);
	map_free(&t->found);
	t->n = 0;
	t->paths = 0;
	t->closed = t->newest;
	for (uint32_t i = 0; i < n; i++) {
		struct task_tree tree = t->all[i];

		if (err || t->n == TASK_TREES_MOST / 2 || t->paths + tree.n > TASK_TREES_PATHS / 2) {
			free_tree(&tree);
			continue;
		}
		t->all[t->n++] = tree;
		t->paths += tree.n;
		err = map_put(&t->found, tree.number, (void *)(uintptr_t)t->n);
	}
	return err;
}

static int begin_tree(struct task_trees *t, const struct task_mark *m)
{
	int err = t->n == TASK_TREES_MOST || t->paths > TASK_TREES_PATHS ? make_room(t) : 0;

	if (err || m->task <= t->closed)
		return err;
	if (!ARRAY_ROOM(t->all, t->n, t->room))
		return -ENOMEM;
	t->all[t->n++] = (struct task_tree){ .number = m->task, .pid = m->pid, .coroutine = m->coroutine };
	return map_put(&t->found, m->task, (void *)(uintptr_t)t->n);
}

/* The tree of the task, made with its first step. *tree is NULL if it has none. 0 or -ENOMEM. */
static int find_tree(struct task_trees *t, const struct task_mark *m, struct task_tree **tree)
{
	uint32_t n = (uintptr_t)map_get(&t->found, m->task);
	int err = n || m->task <= t->closed ? 0 : begin_tree(t, m);

	t->newest = m->task > t->newest ? m->task : t->newest;
	n = err ? 0 : (uintptr_t)map_get(&t->found, m->task);
	*tree = n ? &t->all[n - 1] : NULL;
	return err;
}

/* 0 or -ENOMEM. */
static int add_path(struct task_trees *t, struct task_tree *tree, uint32_t node, const struct flame_values *own)
{
	uint32_t n = (uintptr_t)map_get(&tree->at, node);

	if (!n) {
		if (!ARRAY_ROOM(tree->paths, tree->n, tree->room))
			return -ENOMEM;
		tree->paths[tree->n++] = (struct task_path){ .node = node };
		t->paths++;
		n = tree->n;
		if (map_put(&tree->at, node, (void *)(uintptr_t)n))
			return -ENOMEM;
	}
	flame_add(&tree->paths[n - 1].own, own);
	tree->ns += own->of[FLAME_WALL];
	return 0;
}

/* Callers have the lower numbers. */
static bool is_in(const struct calltree *tree, uint32_t node, uint32_t in)
{
	while (node > in)
		node = tree->nodes[node].parent;
	return node == in;
}

/* Moves what is in this node, to the tree if there is one. 0 or -ENOMEM. */
static int flush(struct task_trees *t, struct task_step *s, const struct calltree *calls, uint32_t in,
		 struct task_tree *to)
{
	uint32_t kept = 0;
	int err = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t node = s->touched[i];

		if (!is_in(calls, node, in)) {
			s->touched[kept++] = node;
			continue;
		}
		if (to && !err)
			err = add_path(t, to, node, &t->scratch[node].own);
		t->scratch[node] = (struct scratch){ 0 };
	}
	s->n = kept;
	return err;
}

/* Is it the activation whose step the mark is of? */
static bool is_of(const struct task_mark *m, const struct activation *a, uint64_t end_ns)
{
	return m->coroutine == a->code && m->until_ns == end_ns;
}

static struct flame_values own_of(const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	return (struct flame_values){ {
		[FLAME_WALL] = end_ns - a->start_ns - a->callee_ns,
		[FLAME_WAITING] = a->off.waiting_ns,
		[FLAME_PREEMPTED] = a->off.ns - a->off.waiting_ns,
		[FLAME_CALLS] = a->op == OP_PY_START,
		[FLAME_CYCLES] = end_cycles - a->start_cycles - a->callee_cycles,
	} };
}

int task_trees_leave(struct task_trees *t, const struct calltree *calls, const struct activation *a, uint32_t node,
		     uint64_t end_ns, uint64_t end_cycles)
{
	struct task_step *s = step_of(t, a);
	struct flame_values own = own_of(a, end_ns, end_cycles);
	struct task_tree *tree = NULL;
	int err;

	if (!s)
		return -ENOMEM;
	if (!s->depth)
		return 0;
	err = collect(t, s, calls, node, &own);
	if (s->ended && is_of(&s->mark, a, end_ns)) {
		err = err ?: find_tree(t, &s->mark, &tree);
		if (tree)
			tree->called = s->mark.called;
		err = err ?: flush(t, s, calls, node, tree);
	}
	s->ended = false;
	if (--s->depth)
		return err;
	return err ?: flush(t, s, calls, 0, NULL);
}

void task_trees_mark(struct task_trees *t, const struct task_mark *m)
{
	if (m->kind != CRITICAL_RUNNING)
		return;
	for (struct tstate *of = tstate_thread(&t->steps, m->pid, m->tid); of; of = of->other) {
		struct task_step *s = (struct task_step *)of;

		s->ended = s->depth > 0;
		s->mark = *m;
	}
}

void task_trees_sort(struct task_trees *t)
{
	if (t->n)
		qsort(t->all, t->n, sizeof(*t->all), by_ns);
}

static void free_step(struct tstate *s)
{
	free(((struct task_step *)s)->touched);
}

void task_trees_free(struct task_trees *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		free_tree(&t->all[i]);
	tstates_free(&t->steps, free_step);
	map_free(&t->found);
	free(t->all);
	free(t->scratch);
	*t = (struct task_trees){ 0 };
}
