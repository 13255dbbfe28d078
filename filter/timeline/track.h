/* SPDX-License-Identifier: MIT */
/*
 * track.h - one thread's line of a timeline: its open slices and loops.
 *
 * Slices wait here until they may be written: a beginning is written once its slice is long enough to be shown. As an
 * outer slice is never shorter than one inside it, the written ones are always the outermost.
 */
#pragma once

#include <stdbool.h>

#include "dense.h"
#include "meter.h"
#include "base/rendered.h"
#include "model/sink.h"
#include "states.h"

/* How the slices of a code object are written. */
struct drawn {
	bool described;		 /* it has its instant, or needs none */
	bool whole;		 /* activations may be told whole: timeline_call() */
	const void *begin, *end; /* of the format; NULL: not made yet */
};

/* An activation on the track. Times of the timeline are ns since its start. */
struct span {
	const struct code *code;
	const struct code *import;	 /* the name of what it imports; NULL: it imports nothing */
	uint64_t start_ns, start_cycles; /* as in the sample */
	uint64_t shown;			 /* on the timeline */
	uint64_t number;		 /* of the program's own, as a whole (sink.h); 0: it is none */
	uint64_t calls;			 /* activations that it started itself */
	struct off off;			 /* of its time it was not on a CPU; complete when it is left */
	uint64_t reserved;		 /* bytes reserved for its end */
	struct drawn *drawn;		 /* since its beginning is written */
	bool tied;			 /* another event has the same time, after its beginning */
	const struct track *from;	 /* it continues a slice there that began at from_shown; or NULL */
	uint64_t from_shown;
};

/* As it begins, every member: clearing all of it is `rep stos`, 15 ns; stores take 5 (AMD EPYC, 2026-11-29). */
static inline void span_begin(struct span *span, const struct activation *a, uint64_t shown)
{
	span->code = a->code;
	span->import = NULL;
	span->start_ns = a->start_ns;
	span->start_cycles = a->start_cycles;
	span->shown = shown;
	span->number = 0;
	span->calls = 0;
	span->off = (struct off){ 0, 0 };
	span->reserved = 0;
	span->drawn = NULL;
	span->tied = false;
	span->from = NULL;
	span->from_shown = 0;
}

/* A loop that is open on the track. */
struct edge {
	const struct loop *loop;
	size_t depth;	/* of the activation it belongs to */
	uint64_t shown; /* its last back-edge on the timeline */
};

/* A loop whose trips were seen on the track. */
struct looping {
	struct dense dense;
	struct track *row; /* on which its trips are since it is dense; NULL: none */
};

/* A running instruction, mode opcodes. */
struct running {
	const struct code *code; /* NULL: none is known */
	const struct instr *instr;
	uint8_t opcode;	 /* in which form */
	uint64_t shown;	 /* on the timeline */
	uint64_t cycles; /* as in the sample */
};

/* A thread has more than one, because slices of one line must nest. */
enum track_line { LINE_CALLS, LINE_OPCODES, LINE_STATE, TRACK_LINES };

#define TRACK_TITLE 96

struct track {
	int32_t pid, tid;
	uint32_t number;  /* 1, 2, ... in order of appearance */
	uint64_t last_ns; /* of its last event on the timeline */
	struct timeline_process *process;
	struct span *spans; /* outermost first */
	size_t nspans, nwritten, spans_size;
	struct edge *edges;
	size_t nedges, edges_size;
	struct map loopings; /* struct loop -> struct looping */
	bool of_loop;	     /* it has the trips of one, */
	const void *trips;   /* of the format: how they are written; NULL: none yet */
	struct meter meter;
	struct track *importing;	  /* of a thread: where its newest import may still wait for its name */
	struct track *lines[TRACK_LINES]; /* a thread's other lines; NULL: none yet */
	char title[TRACK_TITLE];	  /* "" of a thread's first line, which has its name */
	struct running running;		  /* LINE_OPCODES */
	struct states states;		  /* of the thread */
	uint64_t seen_ns;		  /* its last event, as in the sample */
	struct rendered ids;		  /* of the JSON: pid and tid */
	void *sequence;			  /* of the protobuf */
};

/* A span that is innermost from now on, beginning at `shown`. NULL: no memory. */
struct span *track_push(struct track *t, const struct activation *a, uint64_t shown);

/* What it is shown as. */
static inline const struct code *span_of(const struct span *span)
{
	return span->import ? span->import : span->code;
}

/* Its CPU time if it ends at `ns` on the timeline. */
static inline uint64_t span_cpu(const struct span *span, uint64_t ns)
{
	uint64_t length = ns - span->shown;

	return length > span->off.ns ? length - span->off.ns : 0;
}

/* The innermost span of this code, NULL if there is none. */
struct span *track_search(const struct track *t, const struct code *code);
static inline struct span *track_find(const struct track *t, const struct code *code)
{
	struct span *top = t->nspans ? &t->spans[t->nspans - 1] : NULL;

	return top && top->code == code ? top : track_search(t, code);
}

/* Takes a span off, wherever it is, and the loops inside it. */
void track_take(struct track *t, struct span *span);

static inline bool track_is_written(const struct track *t, const struct span *span)
{
	return (size_t)(span - t->spans) < t->nwritten;
}

/*
 * The time of an event on the track: ns, but never before the last one. Marks the innermost span as
 * tied if the event follows its beginning at the same time.
 */
static inline uint64_t track_at(struct track *t, uint64_t ns)
{
	struct span *top = t->nspans ? &t->spans[t->nspans - 1] : NULL;

	if (ns < t->last_ns)
		ns = t->last_ns;
	if (top && top->shown == ns)
		top->tied = true;
	return t->last_ns = ns;
}

/*
 * The same of a span of the program's own that begins: 1 ns after the function that it is in, if that has just begun or
 * gone on. So that is not tied, and an arrow can begin there.
 */
uint64_t track_inside(struct track *t, uint64_t ns);

/*
 * A back-edge of a loop in the innermost span, shown at `ns`: leaves the loops inside it. Returns where on the timeline
 * its last back-edge is, UINT64_MAX if this is the first of the entry. Later events are shown after `ns`, so that none
 * appears to come before the back-edge. -ENOMEM or 0 in *err.
 */
uint64_t track_edge(struct track *t, const struct loop *loop, uint64_t ns, int *err);

void track_free(struct track *t);
