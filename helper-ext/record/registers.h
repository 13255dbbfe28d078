/* SPDX-License-Identifier: MIT */
/*
 * registers.h - where a called function finds its first integer arguments: System V ABI for AMD64, 3.2.3. On any other
 * processor (ARCH=generic) it is not known.
 */
#pragma once

#include "shared/ticks.h"

#ifdef TICKS_X86_64
#include <asm/perf_regs.h>

#define REGISTERS_ARGS 6

/* In perf's order of registers, by number; and where the nth argument is in that order. */
#define REGISTERS_NUMBERS \
	PERF_REG_X86_CX, PERF_REG_X86_DX, PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_R8, PERF_REG_X86_R9
#define REGISTERS_ORDER 3, 2, 1, 0, 4, 5
#else
#define REGISTERS_ARGS 0
#define REGISTERS_NUMBERS
#define REGISTERS_ORDER
#endif
