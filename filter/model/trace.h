/* SPDX-License-Identifier: MIT */
/*
 * trace.h - a whole trace: samples of all threads in, sinks and a profile out.
 *
 * trace_feed is what every front end feeds. Samples of one thread come in time order.
 */
#ifndef OCULAR_TRACE_H
#define OCULAR_TRACE_H

#include "base/map.h"
#include "profile.h"
#include "sample.h"
#include "sink.h"
#include "thread.h"

struct trace {
	struct profile profile;
	struct subscribers to;
	uint64_t from_ns, until_ns; /* samples outside are left out; 0 and UINT64_MAX: none */
	struct map threads;	    /* (pid, tid) -> struct thread */
	struct thread *last;
	bool started;
};

/* codes must outlive the trace; sinks are handed over and freed by trace_free. */
void trace_init(struct trace *t, struct codes *codes, struct sink *sinks);

/* Leaves out what is before `from` or at and after `until` (ns). Call before the first sample. */
void trace_window(struct trace *t, uint64_t from, uint64_t until);

/* A sample_fn (decode.h) whose `to` is a struct trace. 0, -ENOMEM, or what a sink returned. */
int trace_feed(void *trace, const struct sample *s);

/*
 * The end: closes what is open, sums up, tells the sinks to finish. The first error, if any.
 * counted: decode.c counted the words of each process, so what is missing at the end can be told; not
 * so with a time window, because perf skips what is outside.
 */
int trace_finish(struct trace *t, bool counted);

void trace_free(struct trace *t);

#endif
