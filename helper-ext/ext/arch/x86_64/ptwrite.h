/* SPDX-License-Identifier: MIT */
/*
 * ptwrite.h - a word of 64 or 32 bits into the processor's own trace, by the instruction or by branches.
 */
#ifndef OCULAR_PTWRITE_H
#define OCULAR_PTWRITE_H

#include <stdint.h>

/*
 * PTWRITE r64 (SDM volume 2): F3 REX.W 0F AE /4. #UD where CPUID.(14H,0):EBX[4] is 0. It does nothing unless a
 * recording has IA32_RTIT_CTL.PTWEn set.
 */
static inline __attribute__((always_inline)) void ptwrite(uint64_t word)
{
	__asm__ volatile("ptwriteq %0" : : "r"(word));
}

/* PTWRITE r32: without REX.W. A packet of 6 bytes, not 10. */
static inline __attribute__((always_inline)) void ptwrite_short(uint32_t word)
{
	__asm__ volatile("ptwritel %0" : : "r"(word));
}

/*
 * Emulated PTWRITE as perf's manual page of intel-pt ("Emulated PTWRITE") has it: a jump over 16 bytes, which are
 * UD2 and "perf,ptwrite  "; then a conditional jump for each bit, highest first, taken where it is 1. Traced branches
 * are TNT bits: perf finds the magic in the code, takes the next 64 bits, and makes an ordinary ptwrite sample. An
 * interrupt among the 64, in a trace of user space alone, makes perf drop this word and say so (a decoder error).
 *
 * Unlike the manual's, the jumps skip a NOP: an observer (the emulated processor, a stepper) then sees from the next
 * instruction whether they were taken.
 */
#define PTWRITE_BIT	 "shl %0\n\tjc 1f\n\tnop\n1:\t"
#define PTWRITE_EIGHT	 PTWRITE_FOUR PTWRITE_FOUR
#define PTWRITE_FOUR	 PTWRITE_BIT PTWRITE_BIT PTWRITE_BIT PTWRITE_BIT
#define PTWRITE_32	 PTWRITE_EIGHT PTWRITE_EIGHT PTWRITE_EIGHT PTWRITE_EIGHT
#define PTWRITE_EMULATED "jmp 1f\n\t.byte 0x0f, 0x0b\n\t.ascii \"perf,ptwrite  \"\n1:\t"

static inline __attribute__((always_inline)) void ptwrite_emulated(uint64_t word)
{
	__asm__ volatile(PTWRITE_EMULATED PTWRITE_32 PTWRITE_32 : "+r"(word) : : "cc");
}

#endif
