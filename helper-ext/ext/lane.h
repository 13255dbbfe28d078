/* SPDX-License-Identifier: MIT */
/*
 * lane.h - where a thread writes its markers.
 *
 * A lane is a thread's private view of its ring (ring.h); the part that the hot path needs, its cursor, is in
 * thread-local storage. A thread's cursors begin as full; they are also full if the lane's ring is full, closed,
 * removed by stop or left behind by fork. So the hot path's single test `head >= limit` covers all of them, and
 * lane_open() handles each. Words for Intel PT need no ring; their lane is never full once it is open, and only counts.
 *
 * A lane belongs to its thread, which from lane_open() to the last word calls no Python. Other threads touch it only
 * while the world is stopped (world.h), in lanes_stop(), when no interpreter of the process emits any more, and in a
 * forked child, where no other thread exists.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "backend.h"
#include "shared/marker.h"
#include "shared/numbers.h"
#include "shared/ring.h"
#include "shared/ticks.h"

/* What the hot path reads of a lane: all but *head and skew is constant from one lane_open() to the next. */
struct cursor {
	_Atomic uint64_t *head;	 /* ring.at; without a ring the lane's own count of words ever written */
	uint64_t limit;		 /* head at which to check for room again: the ring's end or before it */
	uint64_t interpreter;	 /* the last HELLO's */
	uint64_t skew;		 /* without a ring: words dropped, and NUMBERs, which are no words of the program's */
	uint64_t told;		 /* frame of the object that the next event is about if no KIND_OBJECT says else */
	struct numbers *numbers; /* of words by PTWRITE: the lane's or lane_no_numbers */
};

struct lane {
	struct cursor at;
	struct cursor *shown;	/* the thread's lane_cursor */
	_Atomic uint64_t count; /* head without a ring */

	struct ring *ring;	 /* NULL: none (yet, any more) */
	struct numbers *numbers; /* NULL: likewise, or no memory */
	uint64_t first;		 /* words ever written when this thread took the ring */
	uint64_t looked;	 /* flight mode: the same when the recorder was last checked */
	uint64_t dropped;	 /* words dropped and not yet reported by LOST */
	uint64_t lost;		 /* words dropped in all */
	uint64_t stalled;	 /* tail at which waiting was in vain, or no tail */
	uint64_t refusals;	 /* vain attempts to get a ring */
	uint32_t tid;
	uint32_t window; /* of a duty cycle, for its newest words; LANE_ALWAYS: none */
	bool announce;	 /* the ring had another thread before: RING_THREAD comes first */
	bool named;	 /* the thread's name is in the code table */
	bool met;	 /* so is all that is to be known of it: lanes_meet() */
	struct lane *next, **link;
};

/*
 * The calling thread's lane as the interpreter that traced first sees it, and as all others do. Only one of the two is
 * the lane, the other is always full: so the first interpreter need not check on its hot path whether the thread has
 * been in another one meanwhile.
 */
enum lane_view { LANE_FIRST, LANE_OTHERS, LANE_VIEWS };
extern _Thread_local struct cursor lane_cursor[LANE_VIEWS] __attribute__((tls_model("initial-exec")));

static inline uint64_t cursor_head(const struct cursor *c)
{
	return atomic_load_explicit(c->head, memory_order_relaxed);
}

/*
 * Records between the one written and the one whose cache line is prefetched: the recorder has read that line and may
 * run on another chip, 0.2 to 0.4 us away (AMD EPYC). After the ring's end the prefetch is useless but harmless.
 */
#define LANE_AHEAD 32

/* The same for RING_COARSE records from r on, of which a cache line has four. */
static inline void lane_prefetch(const struct ring_record *r)
{
	for (unsigned int i = 0; i < RING_COARSE; i += 64 / sizeof(*r))
		arch_prefetch(r + LANE_AHEAD + i);
}

/* Append a word where *head says; the caller knows that there is room. The recorder will give it its seq. */
static inline void lane_put(const struct cursor *c, uint64_t head, uint64_t word)
{
	struct ring_record *r = (struct ring_record *)head;
	_Atomic uint64_t *published = c->head;

	arch_prefetch(r + LANE_AHEAD);
	/* The time is read between all loads and all stores: elsewhere it costs up to 4 ns more (AMD EPYC). */
	__asm__ volatile("" : "+r"(word), "+r"(r), "+r"(published));
	arch_stamp(&r->tsc);
	r->word = word;
	atomic_store_explicit(published, (uintptr_t)(r + 1), memory_order_release);
}

/* Append two words of one time, likewise: reading it once more would take longer than all the rest. */
static inline void lane_put_pair(const struct cursor *c, uint64_t head, uint64_t first, uint64_t second)
{
	struct ring_record *r = (struct ring_record *)head;
	_Atomic uint64_t *published = c->head;
	uint64_t now;

	arch_prefetch(r + LANE_AHEAD);
	__asm__ volatile("" : "+r"(first), "+r"(second), "+r"(r), "+r"(published));
	now = ticks_now();
	r[0] = (struct ring_record){ now, first };
	r[1] = (struct ring_record){ now, second };
	atomic_store_explicit(published, (uintptr_t)(r + 2), memory_order_release);
}

/*
 * Likewise with a coarse clock. The time of other records is for the recorder to find: it depends on the address alone,
 * so nothing need be counted. What the next RING_COARSE records need is prefetched with it.
 */
static inline void lane_put_coarse(const struct cursor *c, uint64_t head, uint64_t word)
{
	struct ring_record *r = (struct ring_record *)head;
	_Atomic uint64_t *published = c->head;

	if (__builtin_expect(ring_is_timed(head), 0)) {
		lane_prefetch(r);
		r->tsc = ticks_now();
	} else {
		r->tsc = RING_NO_TIME;
	}
	r->word = word;
	atomic_store_explicit(published, (uintptr_t)(r + 1), memory_order_release);
}

static inline void lane_put_coarse_pair(const struct cursor *c, uint64_t head, uint64_t first, uint64_t second)
{
	lane_put_coarse(c, head, first);
	lane_put_coarse(c, head + sizeof(struct ring_record), second);
}

/* Only the thread numbers the words that go into the processor's trace. */
static inline uint64_t lane_sequenced(const struct cursor *c, uint64_t head, uint64_t word)
{
	return word | (head + c->skew) << 57 >> 5;
}

/* The same into the processor's trace, which has the time. */
static inline void lane_put_whole(const struct cursor *c, uint64_t head, uint64_t word)
{
	arch_trace(lane_sequenced(c, head, word));
	atomic_store_explicit(c->head, head + 1, memory_order_relaxed);
}

/*
 * A chunk (numbers.h) has 4096 words: a reader that has only the end of a trace, or has lost a definition, can miss
 * words up to the next chunk. If 100 words repeat, definitions add 6 % to its bytes (20 for each, 8 for every word).
 */
#define LANE_CHUNK_BITS 12

static inline uint32_t lane_chunk(uint64_t head)
{
	return (uint32_t)(head >> LANE_CHUNK_BITS) + 1;
}

/* Where no word has a number, and none gets one. */
extern struct numbers lane_no_numbers;

/* An event word for which no number stands. */
void lane_put_unnumbered(const struct cursor *c, uint64_t head, uint64_t word);

/* An event word by its number, which stands for it in this chunk. */
static inline void lane_put_number(const struct cursor *c, uint64_t head, uint32_t number)
{
	arch_trace_short(marker_short_of(head + c->skew, number));
	atomic_store_explicit(c->head, head + 1, memory_order_relaxed);
}

static inline void lane_put_emulated(const struct cursor *c, uint64_t head, uint64_t word)
{
	arch_trace_branches(lane_sequenced(c, head, word));
	atomic_store_explicit(c->head, head + 1, memory_order_relaxed);
}

static inline void lane_put_emulated_pair(const struct cursor *c, uint64_t head, uint64_t first, uint64_t second)
{
	lane_put_emulated(c, head, first);
	lane_put_emulated(c, head + 1, second);
}

/*
 * The calling thread has waited, from one time to another; it may do so without the GIL. Told with its next event, at
 * those times: a few waits one after another are kept, and such for the same that follow at once are one. place:
 * locks_place(), or 0.
 */
void lane_waited(enum wait_kind kind, uint64_t place, uint64_t begin, uint64_t end);

/* The time, which the newest of the calling thread's records gets, too, if it has none. */
uint64_t lane_stamp(void);

/* The one of these three that lanes_start() chose: for words outside the hot path. */
void lane_write(struct lane *l, uint64_t word);

/*
 * The calling thread's words, of one time, where there is room for them without lane_open(), whose arguments come
 * first. False: that must be asked. Not in a duty cycle.
 */
bool lane_append(uint64_t interpreter, enum lane_view view, const uint64_t *words, unsigned int n);

/* Instead of a window's number: there is no duty cycle; it is between two windows. */
#define LANE_ALWAYS 0u
#define LANE_SHUT   UINT32_MAX

#define LANE_WORDS_MAX (MARKER_VALUES_MAX + 1) /* a LABEL with its values */

/*
 * The calling thread's lane with room for `words` event words, LANE_WORDS_MAX at most, opened with whatever must come
 * before them: a ring, SNAPSHOT of `window`, LOST, HELLO of `interpreter`. NULL: no room, and the words are counted as
 * lost; or LANE_SHUT: late events of the previous window, which are not wanted.
 */
struct lane *lane_open(uint64_t interpreter, enum lane_view view, uint32_t window, unsigned int words);

/*
 * The interpreter's window was over at `tsc`, or its first one is still to come: its lanes end their segments, and are
 * full. The world is stopped, so none of them is being written.
 */
void lanes_shut(uint64_t interpreter, uint64_t tsc);

/* Each thread's next event in the interpreter goes the slow way, as its first one did. The world is stopped. */
void lanes_meet(uint64_t interpreter);

/* Will nobody read any more? Then it also calls lanes_start()'s deserted(). */
bool lanes_deserted(void);

struct lane_total {
	uint32_t tid;
	uint64_t words;
};

/*
 * The backend of words, whether the clock of rings is coarse, and whether words by PTWRITE get numbers, for callbacks
 * made from now on. No lane is open.
 */
void lanes_choose(enum backend backend, bool coarse, bool numbers);
enum backend lanes_backend(void);
bool lanes_coarse(void);

/*
 * Begin to hand out lanes; those of BACKEND_SOFTWARE with rings as `config` says, announced in folder `dir` (copied).
 * deserted() is called by an emitting thread, with its GIL, when the recorder is found to be gone, and now and then
 * again while words are lost; NULL: do not check. -ENOMEM.
 */
int lanes_start(const struct ring_config *config, const char *dir, void (*deserted)(void));

/*
 * No thread emits any more: finish all rings. *totals (free() it) has a row for each thread that wrote; returns their
 * number; *lost is the number of words dropped in all.
 */
size_t lanes_stop(struct lane_total **totals, uint64_t *lost);

/* In a forked child, locked: other threads' lanes are gone, this one begins anew. */
void lanes_forked(void);

/* Count words without a lane, because their code has no id left. */
void lanes_drop(uint64_t words);
