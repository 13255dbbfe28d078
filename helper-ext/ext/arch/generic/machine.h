/* SPDX-License-Identifier: MIT */
/* machine.h - see arch.h: needs only a C compiler and a clock. */
#ifndef OCULAR_MACHINE_H
#define OCULAR_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define ARCH_TRACES 0

static inline void arch_prefetch(const void *p)
{
	__builtin_prefetch(p, 1);
}

static inline bool arch_calls_by(uint32_t type)
{
	(void)type;
	return false;
}

static inline void arch_stamp(uint64_t *ticks)
{
	*(volatile uint64_t *)ticks = ticks_now();
}

static inline void arch_trace(uint64_t word)
{
	(void)word;
}

static inline void arch_trace_short(uint32_t word)
{
	(void)word;
}

static inline void arch_trace_branches(uint64_t word)
{
	(void)word;
}

#endif
