/* SPDX-License-Identifier: MIT */
/* machine.h - see arch.h. */
#ifndef OCULAR_MACHINE_H
#define OCULAR_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "ptwrite.h"

#define ARCH_TRACES 1

/* On every x86-64 processor; those that cannot prefetch for writing treat it as a NOP. */
static inline void arch_prefetch(const void *p)
{
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
}

static inline bool arch_calls_by(uint32_t type)
{
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
}

/* RDTSC has the time in two registers. The upper half goes first, so that a reader never sees less. */
static inline void arch_stamp(uint64_t *ticks)
{
	volatile uint32_t *halves = (volatile uint32_t *)ticks;
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	halves[1] = high;
	halves[0] = low;
}

static inline __attribute__((always_inline)) void arch_trace(uint64_t word)
{
	ptwrite(word);
}

static inline __attribute__((always_inline)) void arch_trace_short(uint32_t word)
{
	ptwrite_short(word);
}

static inline __attribute__((always_inline)) void arch_trace_branches(uint64_t word)
{
	ptwrite_emulated(word);
}

#endif
