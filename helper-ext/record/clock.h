/* SPDX-License-Identifier: MIT */
/*
 * clock.h - converts the TSC to CLOCK_MONOTONIC.
 *
 * The kernel's own conversion (perf's mmap page) is not available on every machine, least of all on virtual ones. So
 * the two clocks are read together at the start and again whenever a better conversion is wanted; it is the line
 * through the first and the newest pair. A pair is exact to some 20 ns, so the line is, too, at both ends, and better
 * the longer the recording is.
 */
#pragma once

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

/* Reads a new last pair, at least 10 ms after the first (sleeps if it must). */
void clock_update(struct clock *c);

/* The line through both pairs, as perf computes it; clock_update() must have been called. */
struct time_conv clock_conv(const struct clock *c);
uint64_t clock_hz(const struct clock *c);

/* The time that perf will compute for a TSC. */
uint64_t clock_ns(const struct time_conv *conv, uint64_t tsc);

/* And the TSC of a CLOCK_MONOTONIC. */
uint64_t clock_tsc(const struct clock *c, uint64_t ns);

uint64_t clock_monotonic_ns(void);
