/* SPDX-License-Identifier: MIT */
/*
 * front_ipt_parts.h - what front_ipt.c has of front_ipt_words.c and front_ipt_recover.c; no other file needs it.
 *
 * f->analysis is set, and f->pipe where there are two threads. Functions that return an int return 0 or a negative
 * errno; what a decoder calls returns -ECANCELED where the analysis failed, or wants no more, and f->err says why.
 */
#pragma once

#include <errno.h>

#include "base/cold.h"
#include "front_ipt.h"

/* --- front_ipt_words.c ------------------------------------------------------------------------------------ */

/* Words from now on are of this process: whose cycles do they have? */
COLD void front_ipt_change_process(struct front_ipt *f, int32_t pid);

static inline uint64_t cycles_of(struct front_ipt *f, int32_t pid, uint64_t ns, uint64_t core)
{
	if (pid != f->pid)
		front_ipt_change_process(f, pid);
	return f->by_core ? core : ticks_at(&f->ticks, &f->analysis->codes, pid, ns);
}

static inline struct word word_of(struct front_ipt *f, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
				  uint64_t bits)
{
	return (struct word){ pid, tid, ns, cycles_of(f, pid, ns, cycles), bits };
}

static inline int failed(struct front_ipt *f, int err)
{
	if (!err)
		return 0;
	f->err = err;
	return -ECANCELED;
}

/* n more words or samples are analysed. */
void front_ipt_show_progress(struct front_ipt *f, uint32_t n);

/* Analyses words that the other thread decoded. */
int front_ipt_take_words(struct front_ipt *f, const struct words *w);

/* The whole trace, as words: into the pipe; in this thread alone. */
int front_ipt_read_words(struct front_ipt *f);
int front_ipt_read_alone(struct front_ipt *f);

/* --- front_ipt_recover.c ---------------------------------------------------------------------------------- */

/* The whole trace, recovered: samples go where f->analysis->recover sends them. */
int front_ipt_read_recovering(struct front_ipt *f);

/* From now on they go into the pipe. */
void front_ipt_send_to_pipe(struct front_ipt *f, struct recover *r);

/* The pipe has those made so far. */
int front_ipt_put_samples(struct recover *r);
