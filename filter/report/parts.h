/* SPDX-License-Identifier: MIT */
/*
 * parts.h - the time of functions taken apart: by process, thread or task.
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
};

/* A function in it. */
struct part {
	const struct group *group;
	const struct code *code;
	uint64_t n; /* calls */
	uint64_t own_ns;
	struct off own_off;
};

struct parts {
	enum by by;
	struct tstates threads;
	struct map groups;
};

/* Callbacks of a sink: 0 or -ENOMEM. */
int parts_enter(struct parts *p, const struct activation *a);
int parts_leave(struct parts *p, const struct activation *a, uint64_t end_ns);

void parts_free(struct parts *p);
