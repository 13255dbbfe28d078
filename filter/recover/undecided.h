/* SPDX-License-Identifier: MIT */
/*
 * undecided.h - samples of one thread that wait, in order, because the place of one is undecided.
 *
 * A step is an instruction with the places where it may have run; each place says from which place of the frame's
 * previous step it is reached. When one place of a frame's last step proves right, that decides the steps before it.
 * The queue is bounded: when it is full, everything undecided is given up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/decode.h"
#include "model/sample.h"

#define UNDECIDED_PLACES 8
#define UNDECIDED_STEPS	 4096 /* a power of two */
#define UNDECIDED_NONE	 UINT64_MAX
#define UNDECIDED_MERGED UINT8_MAX /* reached from more than one place */

struct undecided_place {
	uint32_t place; /* index of an instruction */
	uint8_t from;	/* index of its place in the previous step, or UNDECIDED_MERGED */
};

struct undecided_step {
	struct sample s;
	uint64_t before; /* the frame's previous step; UNDECIDED_NONE */
	enum undecided_state { UNDECIDED_OPEN, UNDECIDED_SETTLED, UNDECIDED_UNSURE } state;
	struct undecided_place places[UNDECIDED_PLACES];
};

struct undecided {
	struct undecided_step *steps; /* allocated on first use */
	uint64_t head, tail;	      /* numbers of steps; head == tail: nothing waits */
	uint64_t unsure;	      /* steps given up */
};

static inline bool undecided_waits(const struct undecided *d)
{
	return d->head != d->tail;
}

/* Queues a sample in order; an open step has n places. Its number, UNDECIDED_NONE: no memory. */
uint64_t undecided_add(struct undecided *d, const struct sample *s, enum undecided_state state, uint64_t before,
		       const struct undecided_place *places, unsigned n);

/* The frame's step `last` was at its place number i; decides what depends on it. */
void undecided_settle(struct undecided *d, uint64_t last, unsigned i);

/* Nothing will ever decide where the frame's step `last` and those before it were. */
void undecided_give_up(struct undecided *d, uint64_t last);

/* Feeds what need not wait any more; all: and gives up the rest. 0 or what feed returned. */
int undecided_flush(struct undecided *d, bool all, sample_fn feed, void *to);

void undecided_free(struct undecided *d);
