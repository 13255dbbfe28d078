/* SPDX-License-Identifier: MIT */
/*
 * skew.h - how well the clocks (ticks.h) of this machine's processors agree.
 *
 * Words of different threads are put in order by these clocks alone. Two processors pass a word to and fro, and each
 * notes its time right after it has seen the other's word and right before it sends its own. The way takes time, so the
 * differences bound what the clocks differ by; a negative one is an effect that seems to come before its cause.
 *
 * It is done twice. A marker does not wait for the instructions before it (waiting costs 10 ns and more), so the
 * processor may read its clock early: by up to 20 ns on an AMD EPYC, where nothing but one load stands before it.
 */
#pragma once

#include <stdint.h>

/* One pair of processors: the smallest difference seen in each direction, in ticks. */
struct skew_pair {
	int64_t there, back;
};

struct skew_bounds {
	unsigned int pairs; /* that were measured; 0: the rest says nothing */
	int64_t closest;    /* ticks that an effect was after its cause, at the least; < 0: before it */
	uint64_t most;	    /* ticks that two of the clocks differ by, at the most */
};

struct skew {
	unsigned int processors;   /* those that this process may run on */
	struct skew_bounds clocks; /* read in order */
	struct skew_bounds early;  /* read as a marker does */
};

void skew_add(struct skew_bounds *b, struct skew_pair p);

/*
 * Up to 32 processors all pairs, beyond that each with the first: a millisecond each, on a busy machine up to 100. Two
 * processes run meanwhile, on a processor each. No pairs with one processor. -errno.
 */
int skew_measure(struct skew *s);

/* In one line, and 0 if the clocks agree: an effect is never before its cause; else 1. hz: ticks a second. */
int skew_tell(const struct skew *s, uint64_t hz);
