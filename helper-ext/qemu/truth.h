/* SPDX-License-Identifier: MIT */
/*
 * truth.h - what the emulator knows about a recording beyond its contents, for tests.
 *
 * Lines of blank-separated words, in the order of the events of each thread:
 *
 *   word PID TID TSC INSTRUCTIONS WORD IDX END   a PTWRITE: the thread had run so many instructions, and the
 *                                                trace then had so many bytes
 *   lost PID TID TSC INSTRUCTIONS WORD IDX END   likewise, one that an overflow or a full buffer swallowed
 *   trace IDX PID TID CPU INSTRUCTIONS SURPRISES   at the end, for each trace
 *
 * Numbers are decimal, words of PTWRITE hexadecimal.
 */
#pragma once

#include <stdint.h>

#include "side.h"
#include "spool.h"

#define TRUTH_FILE "truth" /* in the folder of the spools */

/* kind: "word" or "lost" */
void truth_word(const struct side *s, const char *kind, uint64_t instructions, uint64_t word,
		const struct spool *trace);
void truth_trace(const char *spools, uint32_t idx, const struct spool_head *head);
