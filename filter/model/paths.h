/* SPDX-License-Identifier: MIT */
/*
 * paths.h - the paths that trips took through a loop's body, and how many took each.
 *
 * PyPy's note on a JIT-aware profiler calls them inner bridges. A path is identified by a hash of what ran or was
 * decided on it; two paths of one loop share a hash once in 2^64 / pairs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/event.h"

#define PATHS_MAX  32 /* of one loop; trips on others are counted together */
#define PATH_LINES 12 /* source lines of a path that are kept */

/* A path so far: what is collected on it. */
struct way {
	uint64_t hash;
	int32_t lines[PATH_LINES]; /* in the order they were reached */
	uint32_t nlines;	   /* PATH_LINES + 1: there were more */
	uint32_t steps;		   /* since it began */
	int64_t start;		   /* offset of the first step */
};

struct path {
	struct way way;
	uint64_t trips;
	uint64_t timed, ns, cycles; /* of trips that were timed */
};

struct paths {
	struct path path[PATHS_MAX]; /* in order of appearance */
	uint32_t n;
	uint32_t last;	  /* that of the last trip; PATHS_MAX: none of these */
	uint64_t others;  /* trips on further paths */
	uint64_t unknown; /* trips whose path was not seen from its beginning */
};

/* One more step: an instruction or a decision at offset, and where it led. line 0: unknown. */
void way_step(struct way *w, int64_t offset, int64_t target, int32_t line);

/* Makes it the beginning of a path. */
void way_clear(struct way *w);

/* A trip took this path; NULL: it was not seen from its beginning. ns and cycles are 0 unless it was timed. */
void paths_add(struct paths *p, const struct way *w, bool timed, uint64_t ns, uint64_t cycles);

/* Were there events, counted by op, that show paths: INSTRUCTION or BRANCH? */
bool paths_recorded(const uint64_t events[OP_COUNT]);

/* All trips whose path is known. */
uint64_t paths_known(const struct paths *p);

/* Their numbers, most trips first, in order of appearance among equals. */
void paths_order(const struct paths *p, uint32_t order[PATHS_MAX]);
