/* SPDX-License-Identifier: MIT */
/*
 * calltree.h - every call path, once, with the cost of its last function there.
 *
 * A node is a code object called by its parent's; a root stands for one thread in one interpreter, or for all threads
 * of a process. It grows with the number of different paths, not with the length of the trace. Sinks pass their enter
 * and leave calls on to it, and read it at the end.
 */
#pragma once

#include "base/map.h"
#include "sink.h"
#include "tstate.h"

/* No node: the root's parent, the last child's next. */
#define CALLTREE_NONE 0

struct call_node {
	uint32_t parent, first, last, next; /* its children from first to last, in order of appearance */
	uint32_t hot;			    /* the child entered last */
	struct code *code;		    /* NULL: a root, or the edge of a group: no path */
	uint32_t group;			    /* its own, and that of what it calls (calltree_enter_in()) */
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

/* A zeroed calltree is an empty one. Each: 0 or -ENOMEM. */
int calltree_enter(struct calltree *t, const struct activation *a);
/* Likewise; its path is apart from the same path in another group, which is any number. 0 is that of all others. */
int calltree_enter_in(struct calltree *t, const struct activation *a, uint32_t group);
int calltree_resume(struct calltree *t, const struct activation *a);
int calltree_leave(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/* Instead of both, at leave: its own time is its caller's, and so is what it called. 0 or -ENOMEM. */
int calltree_pass(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/*
 * A span begins, or ends: of the time in it, what is not in functions that are called in it is its own, and not its
 * function's any more. It nests with activations (model/nested.h). Likewise.
 */
int calltree_begin_span(struct calltree *t, const struct label_mark *m);
int calltree_end_span(struct calltree *t, const struct label_mark *m);

/* Where the activation's stack is: a node, CALLTREE_NONE outside of functions. */
static inline uint32_t calltree_at(const struct calltree *t, const struct activation *a)
{
	const struct tstate *s = tstate_find(&t->roots, a->pid, a->tid, a->interpreter);
	const struct call_root *r = (const struct call_root *)s;

	return r && r->current != r->root ? r->current : CALLTREE_NONE;
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

void calltree_free(struct calltree *t);
