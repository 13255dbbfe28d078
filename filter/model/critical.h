/* SPDX-License-Identifier: MIT */
/*
 * critical.h - where the time of a request went: its critical path.
 *
 * From its end backwards: while it works, that is its time; while it waits, what lets it go on has the time, back to
 * where it began to wait. So the pieces add up to the whole, and each of them, shortened, would have shortened it.
 */
#pragma once

#include "steps.h"

/* P(kind, name): how a piece's time was spent. */
#define CRITICAL_KINDS(P) \
	P(RUNNING, "running")	/* a thread worked for it */ \
	P(BLOCKED, "blocked")	/* a thread that works for it waited: for a lock, the GIL, a file */ \
	P(READY, "ready")	/* it could go on: its event loop, or pool, had others to run */ \
	P(AWAITING, "awaiting") /* nothing that is traced worked for it: a timer, a socket */ \
	P(UNKNOWN, "unknown")	/* the trace does not tell */

enum critical_kind {
#define P(kind, name) CRITICAL_##kind,
	CRITICAL_KINDS(P)
#undef P
		CRITICAL_KIND_COUNT
};

const char *critical_kind_name(enum critical_kind kind);

struct critical_piece {
	enum critical_kind kind;
	enum step_kind of;
	struct called called;	 /* the task */
	const struct code *what; /* RUNNING, READY: what runs; AWAITING, BLOCKED: where; NULL: not known */
	const struct code *by;	 /* AWAITING: the own coroutine that awaits it (steps.h); BLOCKED: stalls.h */
	enum wait_kind wait;	 /* BLOCKED: for what; else 0 */
	int32_t tid;
	uint64_t ns;
};

/* In the order of time. Zeroed: empty. */
struct critical {
	struct critical_piece *pieces;
	size_t n, room;
};

/* The path of what worked in this step at `until`, from `since` on. 0 or -ENOMEM. */
int critical_find(struct critical *c, const struct steps *steps, uint64_t step, uint64_t since, uint64_t until);

void critical_free(struct critical *c);
