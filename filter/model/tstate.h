/* SPDX-License-Identifier: MIT */
/*
 * tstate.h - a sink's data for each thread state: a thread in one interpreter (CPython's PyThreadState).
 *
 * A thread may run several interpreters by turns, each of which has a stack of its own. The data begin with a struct
 * tstate. Most events have the same one as the event before.
 */
#pragma once

#include "base/map.h"

struct tstate {
	int32_t pid, tid;
	uint32_t interpreter;
	struct tstate *other; /* the same thread in another interpreter */
	struct tstate *next;  /* of all, in no particular order */
};

/* Zeroed: none yet. */
struct tstates {
	struct tstate *at; /* the last one asked for */
	struct tstate *all;
	struct map threads; /* pid and tid -> the one made last */
};

/* For tstate_of() alone. */
struct tstate *tstate_look_up(struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size);

/* The tstate, made on first use: `size` bytes, zeroed behind the struct tstate. NULL: no memory. */
static inline void *tstate_of(struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size)
{
	struct tstate *at = s->at;

	if (at && at->tid == tid && at->pid == pid && at->interpreter == interpreter)
		return at;
	return tstate_look_up(s, pid, tid, interpreter, size);
}

/* All of a thread, by `other`. NULL: there is none. */
struct tstate *tstate_thread(const struct tstates *s, int32_t pid, int32_t tid);

/* Frees all, each after `release` (may be NULL) freed what it holds. */
void tstates_free(struct tstates *s, void (*release)(struct tstate *tstate));
