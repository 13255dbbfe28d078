/* SPDX-License-Identifier: MIT */
/*
 * pt_walk.h - the packets of one trace -> PTWRITE payloads, each with its time.
 *
 * Knows what stock perf's decoder does with these packets, and stops where it stops: the order of words
 * of equal time, merged over many traces, depends on it (pt_merge.h). Code is never walked, so what perf
 * finds out by that (errors, emulated PTWRITE) stays unknown here.
 *
 * Bytes that are no packet end the walk until the next PSB: what a damaged trace says after them could
 * be anything.
 */
#ifndef OCULAR_PT_WALK_H
#define OCULAR_PT_WALK_H

#include "pt_walk_state.h"

enum pt_step {
	STEP_END,      /* no more bytes in this chunk */
	STEP_WORD,     /* a PTWRITE: walk->word */
	STEP_BRANCH,   /* an indirect branch to walk->word; only if they are wanted, */
	STEP_ENTER,    /* or tracing that begins at walk->word */
	STEP_ROWS,     /* many of these: walk->rows; only if they are gathered */
	STEP_QUIET,    /* something else that perf stops at */
	STEP_OVERFLOW, /* the processor dropped packets (OVF) */
	STEP_DAMAGE,   /* bytes that are no packet, or a packet where it cannot be */
};

void pt_walk_init(struct pt_walk *w, const struct pt_clocks *clocks, bool branches);

/*
 * Goes on with the bytes from p to end, which must stay where they are until STEP_END. reference: a
 * TSC near their end, as the recording has it. anew: they do not continue what was read before.
 */
void pt_walk_chunk(struct pt_walk *w, const uint8_t *p, const uint8_t *end, uint64_t reference, bool anew);

enum pt_step pt_walk_next(struct pt_walk *w);

#endif
