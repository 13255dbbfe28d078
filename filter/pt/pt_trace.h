/* SPDX-License-Identifier: MIT */
/*
 * pt_trace.h - a perf.data with Intel PT: all its words in the order of time, each with its thread.
 *
 * Two passes over the file's records: the first finds the traces, the last the kernel's records beside them (threads,
 * switches), which are applied when the traces have come to their time. If there are switches, one between the two
 * finds out whether some are missing.
 */
#pragma once

#include "perf_file.h"
#include "perf_order.h"
#include "perf_sample.h"
#include "pt_config.h"
#include "pt_merge.h"
#include "pt_losses.h"

/* What is missing according to the file. How many words that cost follows from their sequence numbers. */
struct pt_faults {
	uint64_t overflows; /* OVF packets */
	uint64_t damages;   /* bytes that are not packets */
	uint64_t truncated; /* trace buffers that were full */
	uint64_t lost;	    /* records beside the trace that the kernel dropped */
	uint64_t untimed;   /* PTWRITEs before the first time in their trace */
	uint64_t shared;    /* core cycles that were divided by time between threads (pt_merge.h) */
	bool switches;	    /* some are missing: from there on it is not known when threads were on a CPU */
};

struct pt_trace {
	struct perf_file file;
	struct pt_config config;
	struct pt_merge merge;
	struct perf_order order;
	struct pt_losses losses;
	struct map by_id; /* sample id -> struct perf_id_entry, for traces in samples */
	struct pt_faults faults;
	char error[PERF_FILE_ERROR];
};

/*
 * path: the perf.data itself. 0; -EOPNOTSUPP: only perf can read it (only_perf.h); -EPROTO or another negative errno;
 * with a line in t->error.
 */
int pt_trace_open(struct pt_trace *t, const char *path);

/*
 * The same traces anew, as far as `of` still has them, for another thread: the file is not looked through again. Not of
 * a file that grows. 0 or a negative errno with a line in t->error.
 */
int pt_trace_again(struct pt_trace *t, const struct pt_trace *of);

/* Passes all words to feed. 0, a negative errno with a line in t->error, or what feed returned. */
int pt_trace_read(struct pt_trace *t, const struct pt_feed *feed);

/*
 * Before anything is read: the cycles of words are their times as TSC. For traces without records of switches. skims:
 * of events in a row only the first and the last word is passed (WORDS_PASSED).
 */
void pt_trace_tell_ticks(struct pt_trace *t, bool skims);

/* For pt_follow.h, which reads a file that grows: the parts of pt_trace_read(). `at`: where the record ends. */
void pt_trace_begin(struct pt_trace *t, const struct pt_feed *feed);
int pt_trace_find(struct pt_trace *t, const struct perf_record *rec, uint64_t at);
int pt_trace_side(struct pt_trace *t, const struct perf_record *rec, uint64_t at);
int pt_trace_until(struct pt_trace *t, uint64_t ns);

/* For pt_parts.h: whose the record is, of those beside the traces. False: it is none, or does not say. */
bool pt_trace_whose(const struct pt_trace *t, const struct perf_record *rec, struct perf_side *s);

/* pt_faults.damages until now; at the end they are in the faults. */
uint64_t pt_trace_damages(const struct pt_trace *t);

int pt_trace_end(struct pt_trace *t, int err);

void pt_trace_close(struct pt_trace *t);
