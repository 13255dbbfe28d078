/* SPDX-License-Identifier: MIT */
/*
 * ptframe.h - markers as Intel PT packets (Intel SDM volume 3, "Intel Processor Trace", packet
 * definitions).
 *
 * A stretch of trace begins with PSB+ = PSB, CYC, TSC, CBR, PSBEND, which has the absolute time; each marker is then
 * CYC + PTW. A CYC packet counts core cycles since the CYC before it. The trace claims that the core always runs at its
 * nominal frequency (CBR == max non-turbo ratio), so that one cycle is one TSC tick and perf, which scales cycles to
 * TSC ticks by max_non_turbo_ratio / CBR, loses nothing.
 *
 * Time must not go backwards in a trace: perf takes a TSC packet below its clock for a wrap of the 56-bit counter. The
 * caller keeps the clock (stream.h).
 */
#pragma once

#include <stdint.h>

#include "shared/ptput.h"

#define PTFRAME_RATIO	      1u		 /* arbitrary, as long as CBR and AUXTRACE_INFO agree */
#define PTFRAME_CYC_MAX	      ((1ull << 56) - 1) /* limit of TSC packets; libipt reads 61 bits */
#define PTFRAME_PSB_MAX	      64u		 /* 16 PSB + 9 CYC + 8 TSC + 4 CBR + 2 PSBEND, rounded up */
#define PTFRAME_MARKER_MAX    19u		 /* 9 CYC + 10 PTW */
#define PTFRAME_SAME_TIME_MAX 11u		 /* the same with no cycles */

/*
 * Writes PSB+ at p, which has room for PTFRAME_PSB_MAX bytes. cycles: since the last CYC packet.
 * Returns its size or a negative errno.
 */
int ptframe_psb(uint8_t *p, uint64_t tsc, uint64_t cycles);

/* cycles: up to PTFRAME_CYC_MAX. */
static inline uint8_t *ptframe_marker(uint8_t *p, uint64_t cycles, uint64_t word)
{
	return ptput_ptw(ptput_cyc(p, cycles), word);
}
