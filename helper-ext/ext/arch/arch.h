/* SPDX-License-Identifier: MIT */
/*
 * arch.h - the parts of the extension that depend on the processor. One folder each: x86_64, and generic, which is
 * plain C for any other; ARCH=generic builds it. Each folder has:
 *
 * machine.h   ARCH_TRACES                1 if the processor may have a trace that takes words, else 0
 *             arch_prefetch(p)           the cache line of *p will be written soon
 *             arch_stamp(&ticks)         ticks_now() (shared/ticks.h) into memory that is read meanwhile: never less
 *             arch_trace(word)           a word into the trace, by an instruction; only where ARCH_TRACES
 *             arch_trace_short(word)     one of 32 bits, likewise
 *             arch_trace_branches(word)  a word by branches
 *             arch_calls_by(type)        does a relocation of this type give the address of a function? Never where the
 *                                        types are not known: then no calls are seen (got.h)
 * emit.c      emitters_software          the callbacks whose words go into rings (emit_path.h)
 * processor.c arch_look()
 * others      sites_find(), sites_dispatches(), tails_next(): machine code, read (sites.h, tails.h)
 */
#ifndef OCULAR_ARCH_H
#define OCULAR_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/ticks.h"

#ifdef TICKS_X86_64
#include "x86_64/machine.h"
#else
#include "generic/machine.h"
#endif

/* What the processor says of itself: pt, ptwrite, and tsc_hz if it or the kernel knows the rate. */
void arch_look(bool *pt, bool *ptwrite, uint64_t *tsc_hz);

#endif
