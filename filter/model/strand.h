/* SPDX-License-Identifier: MIT */
/*
 * strand.h - what a sink keeps of each strand: a thread in one interpreter.
 *
 * A thread may run several interpreters by turns, each of which has a stack of its own. What is kept begins
 * with a struct strand; most events are of the same one as the event before.
 */
#ifndef OCULAR_STRAND_H
#define OCULAR_STRAND_H

#include "base/map.h"

struct strand {
	int32_t pid, tid;
	uint32_t interpreter;
	struct strand *other; /* the same thread in another interpreter */
	struct strand *next;  /* of all, in no certain order */
};

/* Zeroed: none yet. */
struct strands {
	struct strand *at; /* that was asked for last */
	struct strand *all;
	struct map threads; /* pid and tid -> the one made last */
};

/* For strand_of() alone. */
struct strand *strand_look_up(struct strands *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size);

/* The strand, made at first sight: `size` bytes, zeroed behind the struct strand. NULL: no memory. */
static inline void *strand_of(struct strands *s, int32_t pid, int32_t tid, uint32_t interpreter, size_t size)
{
	struct strand *at = s->at;

	if (at && at->tid == tid && at->pid == pid && at->interpreter == interpreter)
		return at;
	return strand_look_up(s, pid, tid, interpreter, size);
}

/* All of a thread, by `other`. NULL: there is none. */
struct strand *strand_thread(const struct strands *s, int32_t pid, int32_t tid);

/* Frees all, each after `release` (which may be NULL) freed what it holds. */
void strands_free(struct strands *s, void (*release)(struct strand *strand));

#endif
