/* SPDX-License-Identifier: MIT */
/*
 * pt_merge.h - the words of many traces in the order of time, each with its thread.
 *
 * Words of equal time come in the order in which stock perf delivers them: the queue with the smallest time runs until
 * it stops (pt_walk.h) at or past the time of the second smallest, and the heap that finds these breaks ties as perf's
 * does (tools/perf/util/auxtrace.c, intel-pt.c).
 */
#pragma once

#include "perf_tasks.h"
#include "pt_queue.h"

typedef int (*pt_word_fn)(void *to, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits);

/* Where words go, and where words of a thread may be missing. A negative return ends everything. */
struct pt_feed {
	pt_word_fn word;
	int (*gap)(void *to, int32_t pid, int32_t tid);
	/* An indirect branch to `bits`, a beginning of tracing there, branches are missing; NULL: not wanted. */
	pt_word_fn branch, enter;
	int (*overflow)(void *to, int32_t pid, int32_t tid);
	/* Many branches, beginnings and words at once; NULL: one by one. */
	int (*rows)(void *to, int32_t pid, int32_t tid, const struct rows *rows);
	/* So many words were put into *room, which is never full; NULL: one by one. */
	int (*words)(void *to, int32_t pid, int32_t tid, uint32_t n);
	struct words *const *room;
	pt_word_fn cpu; /* a thread comes to a CPU or leaves it: payload of KIND_CPU (marker.h); NULL: not wanted */
	void *to;
};

struct pt_ordinal {
	uint64_t time;
	uint32_t queue;
};

struct pt_merge {
	const struct pt_clocks *clocks;
	struct tasks tasks;
	struct pt_queue **queues; /* [idx], NULL: a file may leave some unused */
	uint32_t nqueues;
	struct pt_ordinal *heap;
	uint32_t nheap;
	bool started;
	/*
	 * Not NULL: other traces of the recording are merged elsewhere (pt_parts.h), so words of equal time may come in
	 * another order. Does that matter of these two, of one process?
	 */
	bool (*order_matters)(uint64_t one, uint64_t other);
	uint64_t ties;	 /* so often it did */
	uint64_t shared; /* core cycles that belong to one of two threads */
	bool switches;	 /* feed.cpu is told when threads are on a CPU, as none of their switches is missing */
	struct pt_feed feed;
};

/* The queue of that index, made if need be. NULL: no memory, or no such index. */
struct pt_queue *pt_merge_queue(struct pt_merge *m, uint32_t idx);

/*
 * At `time` (TSC), to which all queues have been run, a thread leaves a CPU, or comes to it. Each thread gets the core
 * cycles of the time when it ran. That is exact if the CPU's trace has a packet with the time of that moment, as
 * processors write when a thread comes. Otherwise the cycles between two such packets are spread evenly over the time
 * between them, and counted as shared. come: 0; -ENOMEM; -EINVAL: no such CPU.
 */
void pt_merge_leave(struct pt_merge *m, uint64_t time, int32_t cpu);
int pt_merge_come(struct pt_merge *m, uint64_t time, int32_t cpu, int32_t pid, int32_t tid);

/*
 * A thread comes to a CPU or leaves it, at ns: feed.cpu is told if a word of it came. With its first word it is on one.
 * 0 or what feed returned; so is the next one.
 */
int pt_merge_switch(struct pt_merge *m, uint64_t ns, int32_t tid, uint64_t payload);

/* After ns switches are missing: of no thread it is known any more when it is on a CPU. */
int pt_merge_lose_switches(struct pt_merge *m, uint64_t ns);

/* Delivers what is before `until` (TSC). All queues must be complete. 0, -errno, or what feed returned. */
int pt_merge_run(struct pt_merge *m, uint64_t until);

/* Queues have new chunks, or are new. 0 or -errno. */
int pt_merge_more(struct pt_merge *m);

/* The time (TSC) of the next word; UINT64_MAX: there is none yet. All up to some time must have been run. */
uint64_t pt_merge_next(const struct pt_merge *m);

void pt_merge_free(struct pt_merge *m);
