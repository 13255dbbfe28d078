/* SPDX-License-Identifier: MIT */
/*
 * summed.h - functions and loops, most time of their own first; the same place in several processes is one.
 *
 * If so asked, the program's own come before all others, and what is hot in libraries next: the less the program's own
 * is, the more of these.
 *
 * The same are those that joined.h joins, and of loops also the head.
 */
#pragma once

#include "code/origin.h"
#include "model/profile.h"
#include "parts.h"

struct summed {
	const struct code *code; /* of the process with most of it */
	const struct loop *loop; /* of that; NULL: a function */
	enum origin origin;
	unsigned first;		     /* what has more comes first; 0: not worth a row */
	struct pids pids;	     /* in which the function ran */
	const struct group *group;   /* of parts.h; NULL: it is not taken apart */
	uint64_t n;		     /* calls, or trips */
	uint64_t ns, own_ns;	     /* with what it calls, of loops also inner ones; without */
	struct off off, own_off;     /* of these */
	uint64_t waits_ns;	     /* of own_ns in calls that block, as the program tells; 0 for loops */
	struct stat_sum cycles;	     /* of a loop's timed trips */
	const struct stat_sum *more; /* those that are still to be added to it; NULL: none */
};

/* *n of them in one array for summed_free(). NULL: no memory. */
struct summed *summed_functions(const struct profile *p, size_t *n, bool own_first);
struct summed *summed_c_functions(const struct profile *p, size_t *n);
struct summed *summed_parts(const struct profile *p, const struct parts *parts, bool loops, size_t *n, bool own_first);
struct summed *summed_loops(const struct profile *p, size_t *n, bool own_first);
void summed_free(struct summed *all, size_t n);

#define SUMMED_DETAILS 128

/* Its details are of one process: a sentence that says so, or nothing if no other one ran it. */
const char *summed_details(const struct summed *s, char text[static SUMMED_DETAILS]);

/*
 * Time by which all is ranked: on a CPU where that is known of all threads; else without the waits that the program
 * tells of; else all.
 */
uint64_t summed_busy(const struct profile *p, uint64_t ns, struct off off, uint64_t waits_ns);

/* Of its own; of all threads. */
uint64_t summed_own_busy(const struct profile *p, const struct summed *s);
uint64_t summed_all_busy(const struct profile *p);
