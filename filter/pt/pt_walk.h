/* SPDX-License-Identifier: MIT */
/*
 * pt_walk.h - the packets of one trace -> PTWRITE payloads, each with its time.
 *
 * Stops where stock perf's decoder stops, because the order of words of equal time, merged over many traces, depends on
 * it (pt_merge.h). Code is never walked, so what perf learns from that (errors, emulated PTWRITE) stays unknown here.
 *
 * Bytes that are not a packet stop the walk until the next PSB: after them a damaged trace could contain anything.
 */
#pragma once

#include "pt_walk_state.h"

enum pt_step {
	STEP_END,      /* no more bytes in this chunk */
	STEP_WORD,     /* a PTWRITE: walk->word */
	STEP_BRANCH,   /* an indirect branch to walk->word; only if they are wanted, */
	STEP_ENTER,    /* or tracing that begins at walk->word */
	STEP_ROWS,     /* many of these: walk->rows; only if they are collected */
	STEP_WORDS,    /* the same of PTWRITEs: walk->gathered of them are in walk->words */
	STEP_QUIET,    /* something else that perf stops at */
	STEP_OVERFLOW, /* the processor dropped packets (OVF) */
	STEP_DAMAGE,   /* bytes that are not a packet, or a packet where it cannot be */
};

void pt_walk_init(struct pt_walk *w, const struct pt_clocks *clocks, bool branches);

/*
 * Continues with the bytes from p to end, which must stay valid until STEP_END. reference: a TSC near their end, from
 * the recording. anew: they do not continue what was read before.
 */
void pt_walk_chunk(struct pt_walk *w, const uint8_t *p, const uint8_t *end, uint64_t reference, bool anew);

enum pt_step pt_walk_next(struct pt_walk *w);
