/* SPDX-License-Identifier: MIT */
/*
 * perf_order.h - the kernel's records beside the trace, sorted by time.
 *
 * Each CPU's buffer is in order, the file is not: it is written in rounds. Records up to the latest time of the last
 * round but one are complete (tools/perf/util/ordered-events.c).
 */
#pragma once

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct perf_side {
	uint64_t time; /* ns; 0: none, it takes effect at once */
	uint32_t type; /* of the record */
	uint16_t misc;
	int32_t cpu;
	int32_t pid, tid;   /* the thread it is about */
	int32_t ppid, ptid; /* FORK: the parent */
	bool truncated;	    /* AUX: the buffer was full */
};

typedef int (*perf_side_fn)(void *to, const struct perf_side *s);

struct perf_order {
	perf_side_fn deliver;
	void *to;
	struct perf_waiting {
		struct perf_side side;
		uint64_t arrived; /* 0, 1, …: among equal times the lower comes first */
	} * waiting;
	size_t n, room;
	uint64_t arrived;	/* how many so far */
	uint64_t latest, limit; /* times: the latest so far; up to which the next round delivers */
	bool shuffled;		/* some waiting records are not in order of time */
};

/* Delivers a record without a time at once. 0, -ENOMEM, or what deliver returned; so do the others. */
int perf_order_add(struct perf_order *o, const struct perf_side *s);

/* A round is at its end. */
int perf_order_round(struct perf_order *o);

/* The file is at its end. */
int perf_order_end(struct perf_order *o);

void perf_order_free(struct perf_order *o);
