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
#include "model/sink.h"
#include "model/tstate.h"

/* No node: the root's parent, the last child's next. */
#define CALLTREE_NONE 0

struct call_node {
	uint32_t parent, first, last, next; /* its children from first to last, in order of appearance */
	uint32_t hot;			    /* the child entered last */
	struct code *code;		    /* NULL: a root */
	uint64_t calls;			    /* PY_START */
	uint64_t resumes;		    /* PY_RESUME, PY_THROW */
	uint64_t ns, cycles;		    /* from enter to leave: sums over activations, nested ones included */
	uint64_t self_ns, self_cycles;	    /* without what it called */
};

/* One stack. */
struct call_root {
	struct tstate tstate;
	uint32_t root, current; /* nodes */
};

struct calltree {
	struct call_node *nodes; /* [nnodes]; number 0 is not used */
	uint32_t nnodes, size;
	struct map children;  /* parent and code id -> node */
	struct tstates roots; /* struct call_root */
	bool by_process;      /* threads of a process share a root; set it before the first enter */
	struct map processes; /* then: pid -> root */
};

/* A zeroed calltree is an empty one. Both: 0 or -ENOMEM. */
int calltree_enter(struct calltree *t, const struct activation *a);
int calltree_leave(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/* Instead of both, at leave: its own time is its caller's, and so is what it called. 0 or -ENOMEM. */
int calltree_pass(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles);

/* Called for a node. Anything but 0 ends the walk, which returns it. */
typedef int (*calltree_visit)(void *to, uint32_t node);

/*
 * Enters and leaves every node below `root`, like a thread that took each path once, children in order of appearance.
 * `leave` may be NULL.
 */
int calltree_walk(const struct calltree *t, uint32_t root, calltree_visit enter, calltree_visit leave, void *to);

/* The roots by pid, tid and interpreter, shared ones once: *n of them in one malloc'ed array; NULL: no memory. */
const struct call_root **calltree_roots(const struct calltree *t, size_t *n);

void calltree_free(struct calltree *t);
