/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - nanoseconds -> ticks of a process's TSC.
 *
 * For a trace without core cycles both decoders compute cycles with this, so that they agree.
 */
#pragma once

#include "code/codes.h"

struct ticks {
	int32_t pid;	/* whose frequency it is */
	uint64_t in_ns; /* 32 fractional bits; 0: no pid yet */
};

/* Ticks of a nanosecond, with 32 fractional bits; 1 if no table of the recording has a frequency. */
static inline uint64_t ticks_in_ns(struct ticks *t, struct codes *codes, int32_t pid)
{
	if (pid != t->pid || !t->in_ns) {
		uint64_t hz = codes_tsc_hz(codes, pid);

		t->pid = pid;
		t->in_ns = hz ? ((__uint128_t)hz << 32) / 1000000000 : 1ull << 32;
	}
	return t->in_ns;
}

/* Ticks of the TSC at `ns`; the nanoseconds themselves if no table of the recording has a frequency. */
static inline uint64_t ticks_at(struct ticks *t, struct codes *codes, int32_t pid, uint64_t ns)
{
	return (__uint128_t)ns * ticks_in_ns(t, codes, pid) >> 32;
}
