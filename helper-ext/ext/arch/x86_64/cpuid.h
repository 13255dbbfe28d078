/* SPDX-License-Identifier: MIT */
/* cpuid.h - who answers CPUID. */
#ifndef OCULAR_CPUID_H
#define OCULAR_CPUID_H

#include <stdint.h>

/*
 * Replaces CPUID: if a library in the process has this symbol, it is called instead of the instruction, which user
 * space can neither trap nor answer. An emulator of Intel PT announces itself this way. regs: EAX, EBX, ECX, EDX.
 */
void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]) __attribute__((weak, visibility("default")));

#endif
