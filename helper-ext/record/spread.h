/* SPDX-License-Identifier: MIT */
/*
 * spread.h - gives times to a ring's records that have none (ring_config.coarse).
 *
 * Records between two with a time are spread evenly between these: their order says no more. But of what was in the
 * ring when the recorder looked it knows that it was written before, and of the rest that it was written later: so no
 * record's time is wrong by more than what lies between two looks, a millisecond as a rule.
 *
 * The newest records of a ring wait for one that has a time: a wait that begins now will be told, with its time, by the
 * thread's next record. They are less than RING_COARSE.
 */
#pragma once

#include <stdint.h>

#include "shared/ring.h"

/* Zeroed: of a ring whose first record is at position 0. A position's record is records[position & mask]. */
struct spread {
	uint64_t next; /* position of the first record that may have no time yet: all before it have one */
	uint64_t time; /* of the record before that; 0: not known */
	uint64_t pace; /* ticks between two records, in the latest run that had an end */
	uint64_t head; /* where the ring's head was at the last look */
	uint64_t seen; /* when it was first seen there: those before it were written before */
	uint64_t left; /* and when it was last seen there: the next one was written after that */
};

/* All records up to the last one before head that has a time get one. */
void spread_between(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head);

/* The ring's head was read between these times. */
void spread_look(struct spread *s, uint64_t head, uint64_t before, uint64_t after);

/*
 * Those that are left, up to head, will not get one by what follows: they are `pace` apart, and not after `latest`.
 * 0: they have the latest time that was read, which is before all that their thread may still tell.
 */
void spread_rest(struct spread *s, struct ring_record *records, uint32_t mask, uint64_t head, uint64_t pace,
		 uint64_t latest);
