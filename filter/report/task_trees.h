/* SPDX-License-Identifier: MIT */
/*
 * task_trees.h - what single tasks did: the values of each path of the call tree that a task was in.
 *
 * A task's step is known when it ends: until then the paths of its thread are collected, from the outermost coroutine
 * on. TASK_TREES_MOST tasks are kept; when there are more, those with the least time so far make room, and no task that
 * had appeared until then is begun any more. So a tree is of all that its task did, and memory does not grow with the
 * length of the trace.
 */
#pragma once

#include "flame.h"

#define TASK_TREES_MOST	 256
#define TASK_TREES_PATHS (1u << 17) /* of all of them */

struct task_path {
	uint32_t node; /* of the call tree */
	struct flame_values own;
};

struct task_tree {
	uint64_t number; /* of the task (sink.h) */
	int32_t pid;
	struct called called; /* at its last step */
	const struct code *coroutine;
	uint64_t ns;   /* of its paths */
	struct map at; /* node -> its number in `paths` + 1 */
	struct task_path *paths;
	uint32_t n, room;
};

/* Of one thread. */
struct task_step {
	struct tstate tstate;
	uint32_t depth;	   /* activations from the outermost coroutine on; 0: none is open */
	uint32_t *touched; /* [n] nodes that have values */
	uint32_t n, room;
	bool ended;	       /* a task's step has: that of the next activation that is left */
	struct task_mark mark; /* then */
};

/* Zeroed: none. */
struct task_trees {
	struct tstates steps; /* struct task_step */
	struct scratch {
		struct flame_values own;
		bool touched;
	} * scratch; /* [nscratch] of each node, which is in one thread */
	uint32_t nscratch;
	struct task_tree *all; /* [n] */
	uint32_t n, room;
	size_t paths;		 /* of all */
	struct map found;	 /* number of a task -> its place in `all` + 1 */
	uint64_t newest, closed; /* numbers of tasks: the highest so far; up to this one none is begun any more */
};

/* Each: 0 or -ENOMEM. An activation begins; or ends, and is still in the call tree, at this node. */
int task_trees_enter(struct task_trees *t, const struct activation *a);
int task_trees_leave(struct task_trees *t, const struct calltree *calls, const struct activation *a, uint32_t node,
		     uint64_t end_ns, uint64_t end_cycles);

/* Before the first coroutine neither needs be called. */
static inline bool task_trees_begin(const struct task_trees *t, const struct activation *a)
{
	return t->steps.all || a->code->coroutine;
}

/* What a sink is told of a task, before the activation is left whose step it was. */
void task_trees_mark(struct task_trees *t, const struct task_mark *m);

/* Most time first. Nothing is told after that. */
void task_trees_sort(struct task_trees *t);

void task_trees_free(struct task_trees *t);
