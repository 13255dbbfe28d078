/* SPDX-License-Identifier: MIT */
/*
 * front_ipt.h - the second decoder as a front end: reads the packets of a perf.data without perf.
 *
 * Cycles: sums of CYC packets, exact core cycles (or those of the emulator, one an instruction). In a
 * recording by software a CYC is a tick of the TSC; there they are the time in ticks, as through perf.
 */
#pragma once

#include "analysis.h"
#include "progress.h"
#include "pt/pt_trace.h"
#include "model/ticks.h"

struct pt_pipe;
struct words;

struct front_ipt {
	struct pt_trace trace;
	struct analysis *analysis;
	struct progress *progress;
	struct pt_pipe *pipe; /* NULL: one thread does all */
	struct words *room;   /* where words are put */
	uint64_t taken;
	bool as_perf; /* leave out what perf does not tell: the caller's wish, after opening; so is the next one */
	const char *processes; /* all others' words are left out, as soon as they are decoded; NULL: none */
	int32_t asked_of;      /* the last process, */
	bool asked;	       /* and whether its words are wanted */
	int err;	       /* what the analysis said, or the thread that decodes */
	struct ticks ticks;
	int32_t pid;  /* the process `by_core` is of */
	bool by_core; /* its cycles are core cycles */
	bool some_by_core;
	bool software; /* the last process with a table was recorded by Ocular's recorder */
};

/* 0, or a negative errno with one line in f->trace.error. -EOPNOTSUPP: only perf can read it. */
int front_ipt_open(struct front_ipt *f, const char *path);

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
