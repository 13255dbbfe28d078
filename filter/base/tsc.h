/* SPDX-License-Identifier: MIT */
/*
 * tsc.h - ticks of the TSC -> nanoseconds, as perf's mmap page has it (cap_user_time_zero).
 */
#pragma once

#include <stdint.h>

struct tsc_conv {
	/* ns = zero + tsc * mult >> shift. At most 32: Linux, clocks_calc_mult_shift() in kernel/time/clocksource.c */
	uint16_t shift;
	uint32_t mult;
	uint64_t zero;
};

static inline uint64_t tsc_ns(const struct tsc_conv *c, uint64_t tsc)
{
	return c->zero + (uint64_t)((__uint128_t)tsc * c->mult >> c->shift);
}

/* The TSC at `ns`; not exactly the inverse, but computed as perf does. */
static inline uint64_t tsc_of_ns(const struct tsc_conv *c, uint64_t ns)
{
	uint64_t t = ns - c->zero;

	return ((t / c->mult) << c->shift) + ((t % c->mult) << c->shift) / c->mult;
}
