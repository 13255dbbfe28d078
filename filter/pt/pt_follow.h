/* SPDX-License-Identifier: MIT */
/*
 * pt_follow.h - a perf.data that is still being written: its words up to a time, and on from there when it has grown.
 *
 * For what ocular-record writes: chunks of one trace for each thread, and no records beside them that have a time. The
 * header's data.size covers complete records at every moment (perfdata.h), so nothing is read that is half there.
 */
#pragma once

#include "pt_trace.h"

struct pt_follow {
	struct pt_trace *trace;
	uint64_t found; /* up to here pt_trace_open() has found the traces */
	struct perf_records records;
};

/* f is too large for a stack. t: opened, and not read. */
void pt_follow_begin(struct pt_follow *f, struct pt_trace *t, const struct pt_feed *feed);

/* Reads what was written since. 0 or a negative errno. */
int pt_follow_more(struct pt_follow *f);

/* The time of the next word, in ns; UINT64_MAX: none is there yet. */
uint64_t pt_follow_next(const struct pt_follow *f);

/* Passes on what is before ns. 0, a negative errno, or what the feed returned. */
int pt_follow_until(struct pt_follow *f, uint64_t ns);

/* The end, after an error or 0. Returns it, with a line in the trace's error. */
int pt_follow_end(struct pt_follow *f, int err);
