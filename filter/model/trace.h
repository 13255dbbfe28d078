/* SPDX-License-Identifier: MIT */
/*
 * trace.h - a whole trace: takes samples of all threads, feeds sinks and makes a profile.
 *
 * trace_feed is what every front end feeds. Samples of one thread come in time order.
 */
#pragma once

#include "base/map.h"
#include "gil.h"
#include "decode.h"
#include "profile.h"
#include "sample.h"
#include "selection.h"
#include "sink.h"
#include "thread.h"
#include "thread_quick.h"
#include "base/time_span.h"

#define TRACE_ERROR SINK_ERROR

struct trace {
	struct profile profile;
	struct subscribers to;
	struct time_span window;
	struct wall wall;
	uint64_t from_ns, until_ns; /* the window, known with the first sample; before it nothing is inside */
	uint64_t last_ns;	    /* latest sample outside the window */
	struct selection selection;
	bool selects;	    /* not all is wanted */
	const char *only;   /* the processes that are fed; NULL: all */
	struct map threads; /* (pid, tid) -> struct thread */
	struct map early;   /* the same: those that were early (thread.h), and may still be */
	struct map gils;    /* pid -> struct gil */
	struct map objects; /* pid -> struct objects */
	struct thread *last;
	bool apart;		 /* traces of others (`next`) may have threads of the same process */
	bool exchanges;		 /* other threads' waits are told (trace_other_word()) */
	struct trace *next;	 /* of others, or other threads (apart.h): trace_finish() of the first adds it */
	bool begun, started;	 /* there was a sample; there was one in the window */
	char error[TRACE_ERROR]; /* one line, if the window is at fault */
};

/* codes must outlive the trace; sinks are handed over and freed by trace_free. */
void trace_init(struct trace *t, struct codes *codes, struct sink *sinks);

/* Leaves out what is not in the window. Call it before the first sample. */
void trace_window(struct trace *t, const struct time_span *window, const struct wall *wall);

/* Leaves out what is not selected: no code, thread, function or task. Likewise. The patterns must outlive the trace. */
void trace_select(struct trace *t, const struct select *by);

/* Only these processes are fed (pid_list.h): what others lost is not looked for. Likewise. */
void trace_processes(struct trace *t, const char *only);

/* A sample_fn (decode.h) whose `to` is a struct trace. 0, -ENOMEM, or what a sink or time_span_resolve() returned. */
int trace_feed(void *trace, const struct sample *s);

/* A word of a thread of that process, which is analysed elsewhere: gil_other_word(). */
int trace_other_word(struct trace *t, int32_t pid, int32_t tid, uint64_t word, uint64_t ns);

/* The same of events without a sample. */
extern const struct quick_feed trace_quick_feed;

/* A second is over, up to ns: tells the sinks. 0 or what one returned. */
int trace_second(struct trace *t, uint64_t ns);

/*
 * The end: closes what is open, sums up, tells the sinks to finish. The first error, if any. counted: decode.c counted
 * the words of each process, so that words missing at the end are known; not with a time window, because perf skips
 * what is outside. -ERANGE: nothing was in the window, or selected. -EAGAIN: the traces of other processes cannot be
 * joined.
 */
int trace_finish(struct trace *t, bool counted);

void trace_free(struct trace *t);
