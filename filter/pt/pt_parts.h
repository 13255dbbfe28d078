/* SPDX-License-Identifier: MIT */
/*
 * pt_parts.h - the traces of a recording, in parts that can be decoded apart from each other: all threads of a process
 * are in the same one, but for those of processes that may be taken apart. For recordings with a trace for each thread.
 *
 * A tid that was used by several processes makes these one, unless they may be taken apart.
 */
#pragma once

#include "pt_trace.h"

struct pt_part_node {
	uint64_t id;	 /* of a process or a thread */
	uint32_t of;	 /* another one that it goes with; itself */
	uint64_t bytes;	 /* of traces, where it is itself */
	unsigned number; /* its part, likewise */
};

/* Which processes' threads may be in different parts. of: NULL: none. */
struct pt_apart {
	bool (*of)(const void *to, int32_t pid);
	const void *to;
};

struct pt_parts {
	struct pt_apart apart;
	struct map by_id;   /* index + 1 */
	struct map threads; /* (pid, tid) of processes that are taken apart, */
	struct map members; /* the same as (pid, part), */
	struct map several; /* and pid -> in how many parts it is */
	struct pt_part_node *nodes;
	uint32_t n, room;
	unsigned count;	    /* parts with traces, */
	uint64_t most, all; /* bytes of the largest, and of all */
};

/* Makes `most` parts of as equal size as may be, or fewer. 0 or a negative errno. */
int pt_parts_make(struct pt_parts *p, const struct pt_trace *t, unsigned most, const struct pt_apart *apart);

/* Which part a process, or its main thread, is of; one without traces is of part 0. */
unsigned pt_parts_of(const struct pt_parts *p, int32_t pid);

/* Is a thread of the process, or all of it, in that part? */
bool pt_parts_has(const struct pt_parts *p, int32_t pid, unsigned number);

/* Are its threads in different parts? */
bool pt_parts_several(const struct pt_parts *p, int32_t pid);

/* Before anything is read of it: the trace has that part only. */
void pt_parts_keep(const struct pt_parts *p, struct pt_trace *t, unsigned number);

void pt_parts_free(struct pt_parts *p);
