/* SPDX-License-Identifier: MIT */
/*
 * parts.h - the time of functions and loops taken apart: by process, thread or task.
 *
 * A task is what a coroutine runs that no other one awaits: tasks of one coroutine are one.
 */
#pragma once

#include "model/sink.h"
#include "model/tstate.h"

/* A process, a thread or a task. */
struct group {
	uint32_t number; /* in the order in which they began */
	int32_t pid, tid;
	const struct code *task; /* its coroutine; NULL: outside of tasks, or not taken apart by them */
	struct map functions;	 /* struct code -> struct part */
	struct map loops;	 /* struct loop -> struct part */
};

/* A function in it, or a loop. */
struct part {
	const struct group *group;
	const struct code *code;
	const struct loop *loop; /* NULL: a function */
	uint64_t n;		 /* calls, or trips */
	uint64_t own_ns;
	struct off own_off;
	uint64_t ns; /* of a loop's timed trips, as the rest here */
	struct off off;
	struct stat_sum cycles;
};

struct parts {
	enum by by;
	struct tstates threads;
	struct map groups;
};

/* Callbacks of a sink: 0 or -ENOMEM. */
int parts_enter(struct parts *p, const struct activation *a);
int parts_leave(struct parts *p, const struct activation *a, uint64_t end_ns);
int parts_iterate(struct parts *p, const struct trip *t);

void parts_free(struct parts *p);
