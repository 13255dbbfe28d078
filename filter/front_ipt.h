/* SPDX-License-Identifier: MIT */
/*
 * front_ipt.h - the second decoder as a front end: reads the packets of a perf.data without perf.
 *
 * Cycles: sums of CYC packets, exact core cycles (or those of the emulator, one an instruction). In a
 * recording by software a CYC is a tick of the TSC; there they are the time in ticks, as through perf.
 */
#pragma once

#include "gather.h"
#include "pt/pt_trace.h"

struct front_ipt {
	struct pt_trace trace;
	struct gather g;
	bool as_perf; /* leave out what perf does not tell: the caller's wish, after opening; so is g.processes */
};

/* 0, or a negative errno with one line in f->trace.error. -EOPNOTSUPP: only perf can read it. */
int front_ipt_open(struct front_ipt *f, const char *path);

/* Another reader of the same traces, as far as `of` has them (pt_trace_again()), and with its wishes. */
int front_ipt_again(struct front_ipt *f, const struct front_ipt *of);

/* Feeds the whole trace. 0, or a negative errno with one line in f->trace.error or the analysis. */
int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p);

/* Decodes the whole trace in this thread: samples go where the analysis sends them. 0 or a negative errno. */
int front_ipt_decode(struct front_ipt *f, struct analysis *a);

/*
 * The same in parts, for another reader of the trace: *feed takes its words, which the analysis has when they have been
 * passed on. 0 or a negative errno; after begin comes end, whatever it returned.
 */
int front_ipt_begin(struct front_ipt *f, struct analysis *a, struct pt_feed *feed);
int front_ipt_pass(struct front_ipt *f);
void front_ipt_end(struct front_ipt *f);

void front_ipt_close(struct front_ipt *f);
