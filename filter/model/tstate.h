/* SPDX-License-Identifier: MIT */
/*
 * tstate.h - a sink's data for each thread state: a thread in one interpreter (CPython's PyThreadState).
 *
 * A thread may run several interpreters by turns, each of which has a stack of its own. The data begin with a struct
 * tstate. Most events have the same one as the event before.
 */
#pragma once

#include <stdbool.h>

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

/* For tstate_find() and tstate_of() alone. */
struct tstate *tstate_search(const struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter);
struct tstate *tstate_look_up(struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size);

static inline bool tstate_is(const struct tstate *t, int32_t pid, int32_t tid, uint32_t interpreter)
{
	return t && t->tid == tid && t->pid == pid && t->interpreter == interpreter;
}

/* The tstate, made on first use: `size` bytes, zeroed behind the struct tstate. NULL: no memory. */
static inline void *tstate_of(struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size)
{
	return tstate_is(s->at, pid, tid, interpreter) ? s->at : tstate_look_up(s, pid, tid, interpreter, size);
}

/* The tstate. NULL: there is none. */
static inline const struct tstate *tstate_find(const struct tstates *s, int32_t pid, int32_t tid, uint32_t interpreter)
{
	return tstate_is(s->at, pid, tid, interpreter) ? s->at : tstate_search(s, pid, tid, interpreter);
}

/* All of a thread, by `other`. NULL: there is none. */
struct tstate *tstate_thread(const struct tstates *s, int32_t pid, int32_t tid);

/* Frees all, each after `release` (may be NULL) freed what it holds. */
void tstates_free(struct tstates *s, void (*release)(struct tstate *tstate));
