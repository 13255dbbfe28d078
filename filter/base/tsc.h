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

/* For many ticks: mult / 2^shift is whole + part / 2^64, exactly, so that tsc_factor_ns() is what tsc_ns() is. */
struct tsc_factor {
	uint64_t zero, whole, part;
};

static inline struct tsc_factor tsc_factor(const struct tsc_conv *c)
{
	uint64_t mult = c->mult;

	return (struct tsc_factor){ c->zero, mult >> c->shift, c->shift ? mult << (64 - c->shift) : 0 };
}

static inline uint64_t tsc_factor_ns(const struct tsc_factor *f, uint64_t tsc)
{
	return f->zero + f->whole * tsc + (uint64_t)((__uint128_t)tsc * f->part >> 64);
}

/* The TSC at `ns`; not exactly the inverse, but computed as perf does. */
static inline uint64_t tsc_of_ns(const struct tsc_conv *c, uint64_t ns)
{
	uint64_t t = ns - c->zero;

	return ((t / c->mult) << c->shift) + ((t % c->mult) << c->shift) / c->mult;
}
