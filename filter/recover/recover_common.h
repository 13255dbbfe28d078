/* SPDX-License-Identifier: MIT */
/* recover_common.h - what the threads of a recovery share: where their samples go, and the counts of them. */
#pragma once

#include "code/codes.h"
#include "model/decode.h"
#include "base/map.h"
#include "model/sample.h"

struct recover_counts {
	uint64_t dispatched; /* instructions of Python code that ran, as far as the trace shows */
	uint64_t placed;     /* of these: reported as INSTRUCTION samples; pairs count as two in both */
	uint64_t makers;     /* RETURN_GENERATOR and what comes before it: of no known code */
	uint64_t unsure;     /* several places fit up to the end */
	uint64_t lost;	     /* of no known code or place */
	uint64_t repeats;    /* of these: may be the previous instruction, dispatched once more */
	uint64_t excluded;   /* in code that the user excluded: not among those that ran; unknown code may be such */
	uint64_t mismatches; /* how often the opcode that ran was not where the walk was */
};

struct recover_thread;
struct ticks;

struct recover {
	struct codes *codes;
	sample_fn feed; /* takes one sample */
	void *to;
	struct sample *room, *end;	/* samples may be made here, in order, up to the end; */
	int (*full)(struct recover *r); /* then this takes them, and provides new room */
	struct sample own;		/* room for one */
	struct ticks *ticks;		/* what the cycles of recover_rows() refer to; NULL: the rows */
	struct map threads;		/* (pid, tid) */
	struct recover_thread *last;
	uint64_t last_key;
	struct recover_counts counts;
	bool compressed; /* returns may leave no packet: not even a specialiser's, which shows a second dispatch */
};

/* The sample at r->room is made. 0, or what r->full() returned. */
static inline int recover_made(struct recover *r)
{
	return ++r->room == r->end ? r->full(r) : 0;
}
