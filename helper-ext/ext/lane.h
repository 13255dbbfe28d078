/* SPDX-License-Identifier: MIT */
/*
 * lane.h - where a thread writes its markers.
 *
 * A lane is a thread's private view of its ring (ring.h); what the hot path needs of it, its cursor,
 * stands in thread-local storage. A thread's cursors begin as full; those of a lane whose ring is
 * full, closed, taken away by stop or left behind by fork are full as well. So the one test
 * `head >= limit` of the hot path covers them all, and lane_open() sorts them out. Words for Intel PT need no ring;
 * their lane is never full once it is open, and counts.
 *
 * A lane belongs to its thread. Other threads touch it only in lanes_stop(), when no interpreter of
 * the process emits any more, and in a forked child, where no other thread exists.
 */
#ifndef OCULAR_LANE_H
#define OCULAR_LANE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "backend.h"
#include "shared/marker.h"
#include "shared/ring.h"

/* What the hot path reads of a lane: all but *head stays as it is from one lane_open() to the next. */
struct cursor {
	_Atomic uint64_t *head; /* ring.at; without a ring the lane's own count of words ever written */
	uint64_t limit;		/* *head at which to look for room again: the ring's end or before it */
	uint64_t interpreter;	/* the last HELLO's */
	uint64_t skew;		/* without a ring: words dropped */
};

struct lane {
	struct cursor at;
	struct cursor *shown;	/* the thread's lane_cursor */
	_Atomic uint64_t count; /* head without a ring */

	struct ring *ring; /* NULL: none (yet, any more) */
	uint64_t first;	   /* words ever written when this thread took the ring */
	uint64_t looked;   /* flight mode: the same when the recorder was last looked after */
	uint64_t dropped;  /* words dropped and not yet told by LOST */
	uint64_t lost;	   /* words dropped in all */
	uint64_t stalled;  /* tail at which waiting was in vain, or no tail */
	uint64_t refusals; /* vain attempts to get a ring */
	uint32_t tid;
	uint32_t window; /* of a duty cycle that its newest words are in; LANE_ALWAYS: of none */
	bool announce;	 /* the ring is second-hand: RING_THREAD comes first */
	bool named;	 /* the thread's name is in the code table */
	struct lane *next, **link;
};

/*
 * The calling thread's lane as the interpreter that traced first sees it, and as all others do.
 * Only one of the two is the lane, the other is always full: the first interpreter need not ask on
 * its hot path whether the thread has been in another one meanwhile.
 */
enum lane_view { LANE_FIRST, LANE_OTHERS, LANE_VIEWS };
extern _Thread_local struct cursor lane_cursor[LANE_VIEWS] __attribute__((tls_model("initial-exec")));

static inline uint64_t cursor_head(const struct cursor *c)
{
	return atomic_load_explicit(c->head, memory_order_relaxed);
}

/*
 * Records between the one written and the one whose cache line is asked for: the recorder has read that line
 * and may run on another chip, 0.2 to 0.4 us away (AMD EPYC). Behind the ring's end it is asked for in vain.
 */
#define LANE_AHEAD 32

/* Append a word where *head says; the caller knows that there is room. The recorder will give it its seq. */
static inline void lane_put(const struct cursor *c, uint64_t head, uint64_t word)
{
	struct ring_record *r = (struct ring_record *)head;
	_Atomic uint64_t *published = c->head;

	arch_prefetch(r + LANE_AHEAD);
	/* The time between all loads and all stores: elsewhere it costs up to 4 ns more (AMD EPYC). */
	__asm__ volatile("" : "+r"(word), "+r"(r), "+r"(published));
	arch_stamp(&r->tsc);
	r->word = word;
	atomic_store_explicit(published, (uintptr_t)(r + 1), memory_order_release);
}

/* Nobody else numbers the words that go into the processor's trace. */
static inline uint64_t lane_sequenced(const struct cursor *c, uint64_t head, uint64_t word)
{
	return word | (head + c->skew) << 57 >> 5;
}

/* The same into the processor's trace, which has the time. */
static inline void lane_put_ptwrite(const struct cursor *c, uint64_t head, uint64_t word)
{
	arch_trace(lane_sequenced(c, head, word));
	atomic_store_explicit(c->head, head + 1, memory_order_relaxed);
}

static inline void lane_put_emulated(const struct cursor *c, uint64_t head, uint64_t word)
{
	arch_trace_branches(lane_sequenced(c, head, word));
	atomic_store_explicit(c->head, head + 1, memory_order_relaxed);
}

/* The one of these three that lanes_start() chose: for words that are not of the hot path. */
void lane_write(struct lane *l, uint64_t word);

/* Instead of a window's number: there is no duty cycle; it is between two windows. */
#define LANE_ALWAYS 0u
#define LANE_SHUT   UINT32_MAX

/*
 * The calling thread's lane with room for `words` event words, opened by whatever has to come
 * before them: a ring, SNAPSHOT of `window`, LOST, HELLO of `interpreter`. NULL: no room, and the
 * words are counted as lost; or LANE_SHUT: late events of the window before, which nobody asked for.
 */
struct lane *lane_open(uint64_t interpreter, enum lane_view view, uint32_t window, unsigned int words);

/*
 * The interpreter's window was over at `tsc`, or its first one is still to come: its lanes end their
 * segments, and are full. The caller holds its GIL, so that none of them is being written.
 */
void lanes_shut(uint64_t interpreter, uint64_t tsc);

/* Will nobody read any more? Tells lanes_start()'s deserted(), if that is so. */
bool lanes_deserted(void);

struct lane_total {
	uint32_t tid;
	uint64_t words;
};

/* Which way words go, for callbacks made from now on. No lane is open. */
void lanes_choose(enum backend backend);
enum backend lanes_backend(void);

/*
 * Begin to hand out lanes; those of BACKEND_SOFTWARE with rings as `config` says, announced in
 * folder `dir` (copied). deserted() is called by a thread that emits, with its GIL, when the recorder is found to be
 * gone, and now and then again while words are lost; NULL: do not look. -ENOMEM.
 */
int lanes_start(const struct ring_config *config, const char *dir, void (*deserted)(void));

/*
 * No thread emits any more: finish all rings. *totals (free() it) has a row for each thread that
 * wrote, the count is returned; *lost are the words dropped in all.
 */
size_t lanes_stop(struct lane_total **totals, uint64_t *lost);

/* In a forked child, locked: other threads' lanes are gone, this one begins anew. */
void lanes_forked(void);

/* Count words that found no lane because their code has no id left. */
void lanes_drop(uint64_t words);

#endif
