/* SPDX-License-Identifier: MIT */
/*
 * pt_merge.h - the words of many traces in the order of time, each with its thread.
 *
 * Words of equal time come in the order in which stock perf delivers them: the queue with the smallest
 * time goes on until it stops (pt_walk.h) at or past the time of the second smallest, and the heap
 * that finds these breaks ties as perf's does (tools/perf/util/auxtrace.c, intel-pt.c).
 */
#ifndef OCULAR_PT_MERGE_H
#define OCULAR_PT_MERGE_H

#include "decode.h"
#include "perf_tasks.h"
#include "pt_queue.h"

/* Where words go. word NULL: words of this thread may be missing here. A negative return ends it all. */
typedef int (*pt_word_fn)(void *to, int32_t pid, int32_t tid, const struct word *word);

struct pt_ordinal {
	uint64_t time;
	uint32_t queue;
};

struct pt_merge {
	const struct pt_clocks *clocks;
	struct tasks tasks;
	struct pt_queue *queues; /* [idx] */
	uint32_t nqueues;
	struct pt_ordinal *heap;
	uint32_t nheap;
	bool started;
	pt_word_fn feed;
	void *to;
};

/* The queue of that index, made if need be. NULL: no memory, or no such index. */
struct pt_queue *pt_merge_queue(struct pt_merge *m, uint32_t idx);

/* Delivers what is before `until` (TSC). All queues must be complete. 0, -errno, or what feed returned. */
int pt_merge_run(struct pt_merge *m, uint64_t until);

void pt_merge_free(struct pt_merge *m);

#endif
