/* SPDX-License-Identifier: MIT */
/*
 * truth.h - what the emulator knows of a recording and the recording does not say, for tests.
 *
 * Lines of blank-separated words, in the order of the events of each thread:
 *
 *   word PID TID TSC INSTRUCTIONS WORD      a PTWRITE: the thread had run so many instructions
 *   lost PID TID TSC INSTRUCTIONS WORD      likewise, one that an overflow swallowed
 *   trace IDX PID TID CPU INSTRUCTIONS SURPRISES   at the end, for each trace
 *
 * Numbers are decimal, words of PTWRITE hexadecimal.
 */
#ifndef OCULAR_QEMU_TRUTH_H
#define OCULAR_QEMU_TRUTH_H

#include <stdint.h>

#include "side.h"
#include "spool.h"

#define TRUTH_FILE "truth" /* in the folder of the spools */

/* kind: "word" or "lost" */
void truth_word(const struct side *s, const char *kind, uint64_t instructions, uint64_t word);
void truth_trace(const char *spools, uint32_t idx, const struct spool_head *head);

#endif
