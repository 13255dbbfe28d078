/* SPDX-License-Identifier: MIT */
/*
 * pt_time.h - the time of a trace's packets, in ticks of the TSC, as stock perf computes it.
 *
 * A TSC packet has the time; CYC packets advance it by core cycles, MTC packets by ticks of the crystal clock, whose
 * position is in TMA (SDM volume 3, "Intel Processor Trace", packets TSC, TMA, MTC, CYC, CBR). perf's rules for
 * conflicts between them are in tools/perf/util/intel-pt-decoder/intel-pt-decoder.c (Linux 6.1). They are followed to
 * the last tick, floating point included, so that both decoders give the same nanosecond.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tsc.h"
#include "pt_packet.h"

/* What a recording says about its clocks. */
struct pt_clocks {
	struct tsc_conv conv;
	unsigned max_ratio;	   /* the ratio (CBR) at which a core cycle is a TSC tick */
	unsigned mtc_shift;	   /* an MTC packet counts 2^mtc_shift crystal ticks */
	uint32_t ctc_num, ctc_den; /* TSC ticks a crystal tick; den 0: unknown, MTC is not used */
};

/* The position of the crystal clock (CTC). */
struct pt_crystal {
	bool known;	  /* there was a TMA */
	bool upper_known; /* bits of last_mtc above the 16 of TMA are valid */
	uint32_t last_mtc;
	uint64_t tsc;	/* at the TMA's CTC, rounded down to an MTC */
	uint64_t ticks; /* since then */
};

struct pt_time {
	const struct pt_clocks *clocks;
	uint64_t now;		  /* 0: not known yet */
	uint64_t tsc;		  /* of the last TSC packet, 0: none */
	uint64_t reference;	  /* near the next TSC packet, to determine its eighth byte; 0: `now` does */
	uint64_t chunk_reference; /* near the end of the chunk being read, 0: unknown */
	struct pt_crystal crystal;
	uint64_t base;	 /* the time from which `cycles` count; 0: unknown */
	uint64_t cycles; /* of CYC packets since then */
	unsigned cbr;	 /* 0: no CBR yet */
	double by_cbr;	 /* TSC ticks a cycle, by the last CBR */
	double by_mtc;	 /* likewise, measured between MTCs */
	bool measured;	 /* by_mtc holds */
};

/* after_cyc: the packet before this one (PADs aside) was a CYC. */
void pt_time_tsc(struct pt_time *t, uint64_t payload, bool after_cyc);
void pt_time_tma(struct pt_time *t, uint64_t payload);
void pt_time_cbr(struct pt_time *t, unsigned cbr);

/* rest..end are the bytes behind the packet: they are searched for the next MTC. */
void pt_time_mtc(struct pt_time *t, uint32_t payload, bool after_cyc, const uint8_t *rest, const uint8_t *end);

/* Ticks a cycle; 0: not known, cycles do not advance the time. */
static inline double pt_time_ratio(const struct pt_time *t)
{
	if (!t->base || (!t->measured && !t->cbr))
		return 0;
	return t->measured ? t->by_mtc : t->by_cbr;
}

/* The time when this many cycles have been counted since `base`, not before `since`. */
static inline uint64_t pt_time_at(const struct pt_time *t, uint64_t cycles, uint64_t since)
{
	double then;

	if (!t->base || (!t->measured && !t->cbr))
		return since;
	/* In doubles, as perf does; signed, because processors convert these faster. */
	then = (int64_t)t->base + (int64_t)cycles * (t->measured ? t->by_mtc : t->by_cbr);
	return then >= 0 && then < 0x1p63 && (int64_t)then > (int64_t)since ? (uint64_t)then : since;
}

/*
 * How many cycles since `base` are certainly before `until`, and nearly as many as there are: 0: perhaps none. While it
 * is not exceeded, the time is linear in them.
 */
uint64_t pt_time_cycles_before(const struct pt_time *t, uint64_t until);

static inline void pt_time_cyc(struct pt_time *t, uint64_t cycles)
{
	t->cycles += cycles;
	t->now = pt_time_at(t, t->cycles, t->now);
}

/* The trace begins anew, near `reference`; what was known of the clocks may be wrong now. */
static inline void pt_time_restart(struct pt_time *t, uint64_t reference)
{
	t->now = 0;
	t->reference = reference;
	t->crystal.known = false;
}
