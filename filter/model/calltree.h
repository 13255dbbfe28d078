/* SPDX-License-Identifier: MIT */
/*
 * calltree.h - every call path, once, with the cost of its last function there.
 *
 * A node is a code object called by its parent's; a root stands for one thread in one interpreter, or for all threads
 * of a process. It grows with the number of different paths, not with the length of the trace. Sinks pass their enter
 * and leave calls on to it, and read it at the end.
 */
#pragma once

#include <errno.h>

#include "base/map.h"
#include "sink.h"
#include "tstate.h"

/* No node: the root's parent, the last child's next. */
#define CALLTREE_NONE 0

struct call_node {
	uint32_t parent, first, last, next; /* its children from first to last, in order of appearance */
	uint32_t hot;			    /* the child entered last */
	uint32_t group;			    /* its own, and that of what it calls (calltree_enter_in()) */
	struct code *code;		    /* NULL: a root, or the edge of a group: no path */
	uint64_t born_ns;		    /* when it was entered first */
	uint64_t calls;			    /* PY_START */
	uint64_t resumes;		    /* PY_RESUME, PY_THROW */
	uint64_t ns, cycles;		    /* from enter to leave: sums over activations, nested ones included */
	uint64_t self_ns, self_cycles;	    /* without what it called */
	struct off off;			    /* of ns */
};

/* A span of the program's own that is open: a node, too. */
struct call_span {
	uint32_t node;
	uint64_t start_ns, start_cycles;
	uint64_t inner_ns, inner_cycles; /* of functions and spans in it that have ended */
};

/* One stack. */
struct call_root {
	struct tstate tstate;
	uint32_t root, current;	 /* nodes */
	struct call_span *spans; /* outermost first */
	uint32_t nspans, spans_size;
};

struct calltree {
	struct call_node *nodes; /* [nnodes]; number 0 is not used */
	uint32_t nnodes, size;
	struct map children;  /* parent and code id -> node */
	struct map edges;     /* parent and group -> node without code */
	struct tstates roots; /* struct call_root */
	bool by_process;      /* threads of a process share a root; set it before the first enter */
	struct map processes; /* then: pid -> root */
};

/*
 * A zeroed calltree is an empty one. The stack of an activation, which a sink that keeps it need not look up each time;
 * it stays where it is. NULL: no memory.
 */
struct call_root *calltree_root_made(struct calltree *t, struct call_root *r);

static inline struct call_root *calltree_root(struct calltree *t, int32_t pid, int32_t tid, uint32_t interpreter)
{
	struct call_root *r = tstate_of(&t->roots, pid, tid, interpreter, sizeof(*r));

	return r && r->root ? r : calltree_root_made(t, r);
}

static inline struct call_root *calltree_root_of(struct calltree *t, const struct activation *a)
{
	return calltree_root(t, a->pid, a->tid, a->interpreter);
}

/* For calltree_enter_on() and calltree_leave_on() alone: all but what comes most often. */
uint32_t calltree_child(struct calltree *t, uint32_t parent, const struct activation *a, uint32_t group);
void calltree_leave_edge(struct calltree *t, struct call_root *r, const struct activation *a, uint64_t end_ns,
			 uint64_t end_cycles);
void calltree_add_inner(struct call_root *r, uint64_t ns, uint64_t cycles);

/* Each of the following: 0 or -ENOMEM. On its stack, an activation begins or ends. */
static inline int calltree_enter_on(struct calltree *t, struct call_root *r, const struct activation *a, uint32_t group)
{
	uint32_t n = t->nodes[r->current].hot;

	if (!n || t->nodes[n].code != a->code || t->nodes[n].group != group)
		n = calltree_child(t, r->current, a, group);
	if (!n)
		return -ENOMEM;
	r->current = n;
	t->nodes[n].calls += a->op == OP_PY_START;
	t->nodes[n].resumes += a->op == OP_PY_RESUME || a->op == OP_PY_THROW;
	return 0;
}

static inline void calltree_leave_on(struct calltree *t, struct call_root *r, const struct activation *a,
				     uint64_t end_ns, uint64_t end_cycles)
{
	struct call_node *n = &t->nodes[r->current];
	uint64_t ns = end_ns - a->start_ns, cycles = end_cycles - a->start_cycles;

	r->current = n->parent;
	if (!t->nodes[r->current].code)
		calltree_leave_edge(t, r, a, end_ns, end_cycles);
	if (r->nspans)
		calltree_add_inner(r, ns, cycles);
	n->ns += ns;
	n->cycles += cycles;
	n->self_ns += ns - a->callee_ns;
	n->self_cycles += cycles - a->callee_cycles;
	off_add(&n->off, a->off);
}

/* Both, of a PY_START that calls nothing and is never off its CPU. */
static inline int calltree_call_on(struct calltree *t, struct call_root *r, const struct activation *a, uint32_t group,
				   uint64_t end_ns, uint64_t end_cycles)
{
	struct call_node *n = &t->nodes[t->nodes[r->current].hot];
	uint64_t ns = end_ns - a->start_ns, cycles = end_cycles - a->start_cycles;

	if (n->code != a->code || n->group != group || n->parent != r->current || r->nspans) {
		int err = calltree_enter_on(t, r, a, group);

		if (!err)
			calltree_leave_on(t, r, a, end_ns, end_cycles);
		return err;
	}
	n->calls++;
	n->ns += ns;
	n->self_ns += ns;
	n->cycles += cycles;
	n->self_cycles += cycles;
	return 0;
}

/* The same of several in a row; of the first is known when it began. */
static inline int calltree_calls_on(struct calltree *t, struct call_root *r, const struct activation *first,
				    uint32_t group, const struct call_sums *sums)
{
	int err = calltree_call_on(t, r, first, group, first->start_ns + sums->ns, first->start_cycles + sums->cycles);

	t->nodes[t->nodes[r->current].hot].calls += err ? 0 : sums->n - 1;
	return err;
}

static inline int calltree_enter(struct calltree *t, const struct activation *a)
{
	struct call_root *r = calltree_root_of(t, a);

	return r ? calltree_enter_on(t, r, a, 0) : -ENOMEM;
}

/* Likewise; its path is apart from the same path in another group, which is any number. 0 is that of all others. */
static inline int calltree_enter_in(struct calltree *t, const struct activation *a, uint32_t group)
{
	struct call_root *r = calltree_root_of(t, a);

	return r ? calltree_enter_on(t, r, a, group) : -ENOMEM;
}

static inline int calltree_leave(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	struct call_root *r = calltree_root_of(t, a);

	if (!r)
		return -ENOMEM;
	calltree_leave_on(t, r, a, end_ns, end_cycles);
	return 0;
}

int calltree_resume(struct calltree *t, const struct activation *a);

/* Instead of both, at leave: its own time is its caller's, and so is what it called. 0 or -ENOMEM. */
int calltree_pass(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/*
 * A span begins, or ends: of the time in it, what is not in functions that are called in it is its own, and not its
 * function's any more. It nests with activations (model/nested.h). Likewise.
 */
int calltree_begin_span(struct calltree *t, const struct label_mark *m);
int calltree_end_span(struct calltree *t, const struct label_mark *m);

/* Where a stack is: a node, CALLTREE_NONE outside of functions. */
static inline uint32_t calltree_at_on(const struct call_root *r)
{
	return r->current != r->root ? r->current : CALLTREE_NONE;
}

/* What was called there last: a node. */
static inline uint32_t calltree_last_on(const struct calltree *t, const struct call_root *r)
{
	return t->nodes[r->current].hot;
}

/* The same of the activation's stack. */
static inline uint32_t calltree_at(const struct calltree *t, const struct activation *a)
{
	const struct tstate *s = tstate_find(&t->roots, a->pid, a->tid, a->interpreter);
	const struct call_root *r = (const struct call_root *)s;

	return r ? calltree_at_on(r) : CALLTREE_NONE;
}

/* The part of self_ns that was not on a CPU: what its children were not is theirs. In a tree without spans. */
struct off calltree_self_off(const struct calltree *t, uint32_t node);

/* Called for a node. Anything but 0 ends the walk, which returns it. */
typedef int (*calltree_visit)(void *to, uint32_t node);

/*
 * Enters and leaves every node below `root`, like a thread that took each path once, children in order of appearance.
 * `leave` may be NULL.
 */
int calltree_walk(const struct calltree *t, uint32_t root, calltree_visit enter, calltree_visit leave, void *to);

/* Numbers a code object for a merged tree, where those of one number are one. Or CALLTREE_PASS, or -ENOMEM. */
#define CALLTREE_PASS -1 /* it has no place there: its own time is its caller's, and so is what it called */
typedef int64_t (*calltree_number)(void *of, struct code *code);

/*
 * Adds what is below `root` of another tree, of whatever process, to that of `to`, which only this fills: made where
 * *to_root is CALLTREE_NONE. 0 or -ENOMEM.
 */
int calltree_merge(struct calltree *to, uint32_t *to_root, const struct calltree *from, uint32_t root,
		   calltree_number number, void *of);

/* The roots by pid, tid and interpreter, shared ones once: *n of them in one malloc'ed array; NULL: no memory. */
const struct call_root **calltree_roots(const struct calltree *t, size_t *n);

/* Nothing is entered any more, nor merged into it: what only that needs is freed. */
void calltree_complete(struct calltree *t);

void calltree_free(struct calltree *t);
