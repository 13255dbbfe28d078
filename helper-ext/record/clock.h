/* SPDX-License-Identifier: MIT */
/*
 * clock.h - what TSC is in CLOCK_MONOTONIC.
 *
 * The kernel would tell (perf's mmap page) but not on every machine, virtual ones least of all. So
 * the two clocks are read together at the start and again whenever a better answer is wanted; the
 * line through the first and the newest pair is the conversion. A pair is known to some 20 ns, so
 * the line is good to that at both ends, and better the longer the recording is.
 */
#ifndef OCULAR_CLOCK_H
#define OCULAR_CLOCK_H

#include <stdint.h>

#include "perfdata.h"

struct clock_pair {
	uint64_t tsc;
	uint64_t ns; /* CLOCK_MONOTONIC */
};

struct clock {
	struct clock_pair first, last;
};

/* Reads the first pair. */
void clock_start(struct clock *c);

/* Reads a new last pair, but not before 10 ms have passed since the first (sleeps if it must). */
void clock_update(struct clock *c);

/* The line through both pairs, as perf computes it; clock_update() must have been called. */
struct time_conv clock_conv(const struct clock *c);
uint64_t clock_hz(const struct clock *c);

/* What perf will make of a TSC. */
uint64_t clock_ns(const struct time_conv *conv, uint64_t tsc);

/* And the TSC of a CLOCK_MONOTONIC. */
uint64_t clock_tsc(const struct clock *c, uint64_t ns);

uint64_t clock_monotonic_ns(void);

#endif
