/* SPDX-License-Identifier: MIT */
/*
 * doubt.h - samples of one thread that wait, in their order, because the place of one is in doubt.
 *
 * A step is an instruction with the places where it may have run; each place says from which place of
 * the frame's step before it is reached. When one place of a frame's last step is known to be the
 * right one, that settles the steps before it. The queue is bounded: when it is full, all that is in
 * doubt is given up.
 */
#ifndef OCULAR_DOUBT_H
#define OCULAR_DOUBT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/decode.h"
#include "model/sample.h"

#define DOUBT_PLACES 8
#define DOUBT_STEPS  4096 /* a power of two */
#define DOUBT_NONE   UINT64_MAX
#define DOUBT_MERGED UINT8_MAX /* reached from more than one place */

struct doubt_place {
	uint32_t place; /* index of an instruction */
	uint8_t from;	/* of the step before: index of its place, or DOUBT_MERGED */
};

struct doubt_step {
	struct sample s;
	uint64_t before; /* the frame's step before it; DOUBT_NONE */
	enum doubt_state { DOUBT_OPEN, DOUBT_SETTLED, DOUBT_UNSURE } state;
	struct doubt_place places[DOUBT_PLACES];
};

struct doubt {
	struct doubt_step *steps; /* made when first needed */
	uint64_t head, tail;	  /* numbers of steps; head == tail: nothing waits */
	uint64_t unsure;	  /* steps given up */
};

static inline bool doubt_waits(const struct doubt *d)
{
	return d->head != d->tail;
}

/* Queues a sample in its turn; an open step has n places. Its number, DOUBT_NONE: no memory. */
uint64_t doubt_add(struct doubt *d, const struct sample *s, enum doubt_state state, uint64_t before,
		   const struct doubt_place *places, unsigned n);

/* The frame's step `last` was at its place number i; settles what hangs on it. */
void doubt_settle(struct doubt *d, uint64_t last, unsigned i);

/* Nothing will ever tell where the frame's step `last` and those before it were. */
void doubt_give_up(struct doubt *d, uint64_t last);

/* Feeds what need not wait any more; all: and gives up the rest. 0 or what feed returned. */
int doubt_flush(struct doubt *d, bool all, sample_fn feed, void *to);

void doubt_free(struct doubt *d);

#endif
