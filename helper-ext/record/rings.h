/* SPDX-License-Identifier: MIT */
/*
 * rings.h - the recorder's end of the rings (shared/ring.h).
 *
 * A ring is memory of a process that we do not control: its geometry is checked once and kept here, its seals guarantee
 * that it cannot shrink, and its head is trusted within the ring's length.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "kept.h"
#include "met.h"
#include "natives.h"
#include "spread.h"
#include "shared/ring.h"
#include "wakeup.h"
#include "stream.h"

struct ring_map {
	struct ring_map *next;
	struct ring *shared;
	uint32_t nrecords;
	uint64_t origin; /* ring.first as it was announced */
	uint64_t tail;
	bool prepared;		  /* for a snapshot: window.h */
	bool coarse;		  /* as struct rings has it */
	struct spread spread;	  /* if so, and the ring is drained */
	struct stream stream;	  /* of the thread that writes into the ring now */
	struct switches switches; /* of the same, */
	struct kept kept;	  /* after these, which are older */
};

struct rings {
	struct trace_out *out;
	struct ring_map *first;
	struct clock *clock;   /* of the switches' times; NULL: they are not recorded */
	struct wakeup *wakeup; /* the same */
	struct met *met;
	struct natives natives; /* samples between the switches */
	bool windows;		/* a duty cycle: switches outside of its windows are of no interest */
	bool coarse;		/* not every record has a time */
	bool flight;		/* switches are kept as history.h has them */
	bool fresh;		/* clock and wakeup are those of this round */
	uint32_t damaged;	/* rings whose head was out of range */
};

/*
 * Maps a ring that process pid announced for its thread tid; fd remains the caller's. -EINVAL: not a ring; -EPERM: its
 * seals allow it to shrink; or mmap(2)'s error.
 */
int rings_add(struct rings *rs, int fd, uint32_t pid, uint32_t tid);

/* Thread tid of that process will write into one of its rings that had another thread before. */
void rings_meet(struct rings *rs, uint32_t pid, uint32_t tid);

/* Records ever written into it. */
static inline uint64_t rings_head(const struct ring_map *r)
{
	return ring_head(r->shared, r->origin, r->nrecords);
}

/* From here on this ring has words of thread tid: opens a stream for it unless that is the open one. */
void rings_thread(struct rings *rs, struct ring_map *r, uint32_t tid);

/* When the thread began, or ceased, to be on a CPU, by the clock of the rings: exact within some 50 ns. */
uint64_t rings_tsc(const struct rings *rs, const struct switched *sw);

/* Takes what is in the rings. Returns how full the fullest was, in percent. */
unsigned int rings_drain(struct rings *rs);

/* Writes out what has been taken; how many bytes that would be. */
void rings_flush(struct rings *rs);
uint64_t rings_pending(const struct rings *rs);

/*
 * A new file has begun: each thread's stream begins anew in it. hello: with the interpreter that the thread is in,
 * because the following words do not say.
 */
void rings_reopen(struct rings *rs, bool hello);

/* The process is dead: takes the rest of its rings and releases them. */
void rings_end_process(struct rings *rs, uint32_t pid);

/* Flight mode: releases a ring without reading it, or all of a process (0: of any). */
void rings_let_go(struct rings *rs, struct ring_map *r);
void rings_drop(struct rings *rs, uint32_t pid);

/* Tells all producers that nothing more will be read, and why. */
void rings_close(struct rings *rs, enum ring_closed why);

/* Closes, takes the rest and releases all rings. */
void rings_finish(struct rings *rs);
