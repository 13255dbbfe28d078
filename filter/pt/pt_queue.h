/* SPDX-License-Identifier: MIT */
/*
 * pt_queue.h - one trace of a recording (perf: auxtrace queue): of a thread or a CPU, in chunks anywhere in the file.
 * One chunk is in memory at a time, and none while it rests: a recording may have many thousand threads.
 */
#pragma once

#include <stddef.h>

#include "loaded.h"
#include "perf_tasks.h"
#include "pt_walk.h"

struct pt_chunk {
	uint64_t at, size;  /* in the file */
	uint64_t reference; /* a TSC near its end */
};

struct pt_queue {
	int fd;
	bool may_overlap;    /* snapshots or AUX samples: chunks need not continue each other */
	bool follows_cpu;    /* the thread is whichever runs on `cpu` */
	int32_t cpu, tid;    /* -1: unknown */
	struct task *task;   /* the one that runs, or ran last; NULL: unknown */
	bool away;	     /* it has left the CPU: cycles are not its own */
	uint64_t counted;    /* of walk.core, the part already given to a task */
	uint64_t counted_at; /* TSC: the time of that */
	uint64_t shared_to;  /* of walk.core, the part already counted as shared (pt_merge.h) */
	uint64_t passed;     /* of walk.breaks: how many are before that time */
	struct pt_chunk *chunks;
	uint32_t nchunks, next;
	struct loaded loaded; /* the chunk that is being read */
	bool rests;
	ptrdiff_t rests_at; /* while it rests: where the walk is in the chunk, */
	size_t rests_for;   /* and how much is left */
	struct pt_walk walk;
	bool queued; /* in the heap of pt_merge.h */
	bool holds;  /* the last step was a word or a branch that is not delivered yet */
	int held;    /* that step */
	uint64_t overflows, damages;
};

/* 0 or -ENOMEM. */
int pt_queue_add(struct pt_queue *q, const struct pt_chunk *chunk);

/* The next step; STEP_END: the trace is at its end. Overflows and damage are counted. -errno. */
int pt_queue_next(struct pt_queue *q);

/* Gives its memory back until the next step is wanted; then wake it. */
void pt_queue_rest(struct pt_queue *q);

/* 0, also if it does not rest, or -errno. */
int pt_queue_wake(struct pt_queue *q);

/* Forgets the chunks that were read, of a trace that grows. */
void pt_queue_forget(struct pt_queue *q);

void pt_queue_free(struct pt_queue *q);
