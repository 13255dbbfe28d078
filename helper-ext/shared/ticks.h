/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - the clock of ring records (ring.h), read by both the traced program and the recorder: the TSC, or, without
 * one or with ARCH_GENERIC defined, nanoseconds of CLOCK_MONOTONIC.
 */
#pragma once

#include <stdint.h>

#if defined(__x86_64__) && !defined(ARCH_GENERIC)
#define TICKS_X86_64
/* The compiler's own functions: <x86intrin.h>, which gives them other names, compiles longer than most files. */

static inline uint64_t ticks_now(void)
{
	return __builtin_ia32_rdtsc();
}
/* Not read before all that stands before it is done, as the processor may read ticks_now(). */
static inline uint64_t ticks_in_order(void)
{
	__builtin_ia32_lfence();
	return __builtin_ia32_rdtsc();
}
#else
#include <time.h>

static inline uint64_t ticks_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t ticks_in_order(void)
{
	return ticks_now();
}
#endif
