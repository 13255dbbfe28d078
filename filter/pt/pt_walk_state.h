/* SPDX-License-Identifier: MIT */
/* pt_walk_state.h - the position of the walk through one trace, shared by pt_walk.h and pt_scan.h. */
#pragma once

#include "base/rows.h"
#include "base/words.h"
#include "pt_packet.h"
#include "pt_time.h"

/*
 * A TSC packet that sets the time forward, as when a thread comes to a CPU: between `from` and `to` the core did not
 * run. `core`: all cycles up to there.
 */
struct pt_break {
	uint64_t from, to, core;
};

/*
 * How many are kept, the latest ones. A thread has one each time it waited; if it waits for the GIL, as often as every
 * 5 ms (CPython, sys.getswitchinterval()).
 */
#define PT_BREAKS 1024

struct pt_walk {
	struct pt_time time;
	uint64_t stamp;	      /* TSC of the last step */
	uint64_t word;	      /* payload, after STEP_WORD */
	uint64_t core;	      /* sum of CYC packets; with branch=1 of those while tracing was on */
	uint64_t quiet_until; /* quiet steps before this time need not be reported */
	struct {
		uint64_t stamp, core;
	} passed; /* the last one that was not quiet; stamp 0: all were */
	const uint8_t *p, *end;
	uint64_t ip;	     /* the last one in a packet */
	bool tips;	     /* indirect branches are wanted: otherwise they are STEP_QUIET */
	struct rows *rows;   /* and many are returned at once there, where that makes no difference; NULL: none are */
	struct words *words; /* the same of words alone: put there; NULL: one by one */
	bool skims;	     /* but not those of WORDS_PASSED, nor times in ns; needs `ticks` */
	uint32_t gathered;   /* so many were, */
	uint64_t thread;     /* whose cycles are these and `core`; */
	bool ticks;	     /* or instead the TSC */
	bool branches;	     /* recorded with branch=1: there are TNT and TIP */
	bool started;	     /* a time is known: words before that have no time */
	bool plain;	     /* the most common packets have their usual meaning */
	bool synced;	     /* otherwise it looks for a PSB */
	bool first_psb;	     /* inside the PSB+ that synchronised it */
	bool in_psb;
	bool after_cyc;	 /* the last packet was a CYC */
	bool wants_fup;	 /* the last packet was a PTW whose FUP must come next */
	bool holds;	 /* `held` waits for a FUP with an ip */
	bool enabled;	 /* tracing is on, according to the packets */
	bool overflowed; /* no FUP or TIP.PGE since the last OVF */
	unsigned cbr_reported;
	packet_block block;
	uint64_t held;
	uint64_t untimed;	 /* words before the first time: dropped, as perf does */
	struct pt_break *breaks; /* PT_BREAKS of them, the n-th at n % PT_BREAKS; NULL: not wanted */
	uint64_t nbreaks;
};
