/* SPDX-License-Identifier: MIT */
/*
 * gil_apart.h - a process's GIL where some of its threads are analysed elsewhere, in another thread at the same time.
 *
 * Here is known, in the order of time, what all threads wait for, and of events of code only those of the own ones. So
 * an own thread may seem to hold the GIL still, although an event of another's shows that it does not. It is kept when
 * the own ones seemed to hold it, and compared at the end: where it was two threads' at once, and somebody waited for
 * it, one analysis has to look at all threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct function;
struct thread;

/* An own thread seems to have it: from, and until when. ns */
struct gil_hold {
	uint64_t from, to;
	uint64_t last;			 /* its last event in it, or before it */
	uint64_t waited_from, waited_to; /* ns that threads waited for it until then, added up */
	bool maybe;	 /* a wait for something else ended, and nobody seemed to have it; no event has come since */
	bool again;	 /* it goes on with the one before: another thread got the GIL in vain */
	uint64_t end;	 /* when another thread took it elsewhere, or `to` */
	uint64_t unsure; /* from when on it was the one's and the other's in turn; UINT64_MAX: never */
	uint64_t wrong;	 /* from which `waited` on another had it, until `to`; UINT64_MAX: none did */
	struct thread *thread;
	struct function *function; /* that what others waited at the end of it was added to; NULL: none */
};

/* A wait of an own thread ended and another seemed to have it; until the next event: as above */
struct gil_left {
	uint64_t ns, waited_from, waited_to;
};

struct gil_apart {
	struct map wanting;	/* tid -> GIL_WANTS or GIL_HAS_WANTED, of others' threads */
	int32_t holder;		/* the other's thread that has it, as far as is known; 0: none, */
	uint64_t took_ns;	/* and its last event of code that was told, or UINT64_MAX */
	uint64_t waited_ns;	/* that threads have waited for it, added up, */
	uint64_t waited_until;	/* until then */
	struct gil_hold *holds; /* in the order of time */
	struct gil_left *left;
	uint32_t n, room, nleft, left_room;
	uint64_t heard_ns; /* the last word of another's */
	uint64_t words;	   /* a sum of all own words that were acted on (gil_apart_sum()) */
	bool lost;	   /* it cannot be followed: order, a gap, or memory */
};

/* More are not kept: one analysis looks at all threads then. 22 MB. */
#define GIL_HOLDS_MOST (1u << 18)

/* So many threads have waited for it until now. */
void gil_apart_waited(struct gil_apart *a, uint32_t waiting, uint64_t ns);

/* An own thread has it since then. gil_apart_waited() first, here and below. */
void gil_apart_take(struct gil_apart *a, bool maybe, uint64_t ns);

/* The last one ends, and goes on as another one. */
void gil_apart_go_on(struct gil_apart *a, struct thread *t, uint64_t ns);

/* It was that thread's until then. UINT64_MAX: until the end. */
void gil_apart_leave(struct gil_apart *a, struct thread *t, uint64_t ns);

/* An own thread's wait for something else ended, and another thread seems to have it. A number for its end, or 0. */
uint32_t gil_apart_left(struct gil_apart *a, uint64_t ns);
void gil_apart_left_until(struct gil_apart *a, uint32_t number);

/* Of all words that are said of a thread the sum does not depend on their order. */
static inline uint64_t gil_apart_sum(int32_t tid, uint64_t payload, uint64_t ns)
{
	return ((payload ^ (uint64_t)(uint32_t)tid) * 0x9e3779b97f4a7c15ull ^ ns) * 0x9e3779b97f4a7c15ull;
}

/*
 * After the end, of all that are one process's: what was added to an own thread while another's had the GIL is taken
 * away again. False: it is not known whose it was.
 */
bool gil_apart_settle(struct gil_apart *const *all, unsigned n);

void gil_apart_free(struct gil_apart *a);
