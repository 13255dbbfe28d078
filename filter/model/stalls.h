/* SPDX-License-Identifier: MIT */
/*
 * stalls.h - when threads waited in a call, for what, and where: the newest STALLS_KEPT of all threads.
 */
#pragma once

#include "base/map.h"
#include "waits.h"

#define STALLS_KEPT (1u << 16) /* a power of two; some 4 MB */

struct code;

struct stall {
	enum wait_kind kind;
	uint64_t from_ns, until_ns;
	const struct code *where;  /* the innermost activation's; NULL: none */
	const struct code *by;	   /* for which that waits: a step's, or one of the program's own around it; or NULL */
	uint64_t done_ns, done_by; /* until then it waited for what this step (steps.h) did; 0: that is not known */
	uint64_t before;	   /* the thread's one before: its number; 0: none */
};

/* Zeroed: none. */
struct stalls {
	struct stall *all;
	size_t room;
	uint64_t last;	       /* number of the newest: 1, 2, ... */
	uint64_t forgotten_ns; /* until then there were others that are not kept; 0: none */
	struct map threads;    /* (pid, tid) -> number of its newest */
};

/* Later than those of the thread that are there; `before` is set here. 0 or -ENOMEM. */
int stalls_add(struct stalls *s, int32_t pid, int32_t tid, struct stall stall);

/* The thread's newest, and its one before; NULL: there is none any more. Valid until one is added. */
const struct stall *stalls_newest(const struct stalls *s, int32_t pid, int32_t tid);
const struct stall *stalls_before(const struct stalls *s, const struct stall *stall);

void stalls_free(struct stalls *s);
