/* SPDX-License-Identifier: MIT */
/*
 * greenlets.h - the greenlets of a thread, by the addresses that markers tell, and their totals.
 *
 * A thread runs one greenlet at a time; each has a stack of its own, which stands still while it is away (away.h).
 * Which one runs is not known until a word tells it: that one has run since the thread began, or since markers were
 * missing, because each switch is told with the greenlet that it leaves.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct code;
struct stack;

struct greenlet {
	int32_t pid, tid;
	uint64_t number;	     /* 1, 2, ... of the recording's, in order of appearance */
	uint64_t address;	     /* payload of its SUBJECT words */
	bool home;		     /* the thread began with it */
	const struct code *function; /* of its outermost activation, as far as it is known; NULL: none was seen */
	uint64_t running_ns;
	uint64_t switches; /* how often a switch to it was seen */
	/* While it is away: since when; its stack, NULL: nothing is open in it. */
	uint64_t since_ns, since_cycles;
	struct stack *stack;
	uint64_t step; /* of a task or job, that an activation of its own has begun (subjects.h); 0: none */
};

/* A row of the report. */
struct greenlet_total {
	int32_t pid, tid;
	uint64_t number;
	const struct code *function;
	uint64_t running_ns, switches;
	uint64_t count; /* 1, or so many together */
};

/* Rows that are kept; of later ones there is the sum. */
#define GREENLETS_MOST 10000

/* Where the package does not tell. */
#define GREENLETS_UNTOLD "of greenlets are not told, for lack of settrace(): times are mixed"

/* Those of the recording. Zeroed: none. */
struct greenlet_totals {
	uint64_t count; /* there were so many */
	struct greenlet_total *rows;
	size_t n, size;
	struct greenlet_total others; /* beyond GREENLETS_MOST */
};

/* A thread's. Zeroed: none was told of. */
struct greenlets {
	struct map by_address;
	struct greenlet *running; /* NULL: not known */
	uint64_t since_ns;	  /* it runs since then; NULL: whatever runs */
	bool between;		  /* one has ended, and the next one is told at once */
	bool lost;		  /* markers were missing: the next one that is told of is not `home` */
	struct stack *spare;	  /* stacks that nobody needs, for others */
};

/* The one at the address, made on first use. NULL: no memory. */
struct greenlet *greenlets_at(struct greenlets *all, struct greenlet_totals *totals, uint64_t address, int32_t pid,
			      int32_t tid);

/* The number of what runs, for activations; 0 if it is `home`, or not known. */
static inline uint64_t greenlets_shown(const struct greenlets *all)
{
	return all->running && !all->running->home ? all->running->number : 0;
}

/* What runs has run until then. */
void greenlets_until(struct greenlets *all, uint64_t ns);

/* It has ended, and has no stack: its row is made. The greenlet is freed. 0 or -ENOMEM. */
int greenlets_end(struct greenlets *all, struct greenlet_totals *totals, struct greenlet *g);

/* The trace ends: rows for all that are left. 0 or -ENOMEM. */
int greenlets_finish(struct greenlets *all, struct greenlet_totals *totals);

/* The rows, the ones that ran longest first. */
void greenlets_rank(struct greenlet_totals *totals);

/* Those of one function together, likewise, the others last: *n of them in an array for free(). NULL: no memory. */
struct greenlet_total *greenlets_by_function(const struct greenlet_totals *totals, size_t *n);

/* Frees all but the stacks. */
void greenlets_free(struct greenlets *all);
