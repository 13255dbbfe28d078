/* SPDX-License-Identifier: MIT */
/*
 * window.h - the newest records of a ring, copied while it is being written.
 *
 * The producer neither waits nor notices. Positions count the records ever written: head is read before the copy and
 * after it, and what the producer may have overwritten in between, including the record it is writing now, is cut off
 * at the old end. The rest is intact.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "history.h"
#include "rings.h"
#include "timeslice.h"

struct window {
	struct ring_record *records; /* oldest first; owned by the window */
	uint32_t n;
	uint32_t tid;	/* the thread of the newest */
	uint64_t hello; /* ring_hello() of the last HELLO before the copy */
	uint64_t from;	/* position of records[0] */
	bool follows;	/* the word before its first record is known: so that is a complete word */
	bool cut;	/* the ring did not reach back to `from_tsc`: older ones are overwritten */
};

/*
 * Copies what is in the ring, was not copied before, and was written at from_tsc <= TSC <= until_tsc. 0; -ENOMEM;
 * -EINVAL: the ring is damaged. Then the window is empty.
 */
int window_copy(struct window *w, struct ring_map *r, uint64_t from_tsc, uint64_t until_tsc);

/*
 * Cuts off what is older than tsc: *older gets it, as a window of its own. 0; -ENOMEM: nothing was done. Whether the
 * ring reached back applies to the newer part.
 */
int window_split(struct window *w, struct window *older, uint64_t tsc);

/*
 * Writes the window into the streams of its threads, a segment each: SNAPSHOT, HELLO, the words, and SNAPSHOT again,
 * with the time until_tsc; among them CPU words where the thread's history has switches. Words of an unknown
 * interpreter are left out. In stretches: see timeslice.h.
 */
void window_write(const struct window *w, struct rings *rs, struct ring_map *r, const struct histories *histories,
		  uint32_t number, uint64_t until_tsc, struct timeslice *timeslice);

/* When the first word was written that window_write() writes; UINT64_MAX if there is none. */
uint64_t window_first_tsc(const struct window *w);

/* So that the first copy does not wait for the kernel to map page by page. */
void window_prepare(struct ring_map *r);

void window_free(struct window *w);

/* When the last record was written; 0 if there is none. */
uint64_t window_last_tsc(const struct ring_map *r);
