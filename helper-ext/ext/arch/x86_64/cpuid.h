/* SPDX-License-Identifier: MIT */
/* cpuid.h - who answers CPUID. */
#ifndef OCULAR_CPUID_H
#define OCULAR_CPUID_H

#include <stdint.h>

/*
 * A CPUID of one's own: a library in the process that has this symbol is asked instead of the
 * instruction, which user space can neither trap nor answer. It is how an emulator of Intel PT
 * tells of itself. regs: EAX, EBX, ECX, EDX.
 */
void ocular_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]) __attribute__((weak, visibility("default")));

#endif
