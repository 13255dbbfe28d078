/* SPDX-License-Identifier: MIT */
/*
 * flight.h - the flight recorder: nothing is taken from the rings until something happens.
 *
 * A snapshot is what all rings hold of the last moments before its trigger. All rings are copied
 * first, in one go, and written afterwards, in stretches (timeslice.h); no thread waits for either. What a snapshot
 * has taken no later one takes again, so that the segments of a thread follow one another in its trace.
 *
 * Before the first one whose rings reach back further than it, if it is of a time, the time of that length
 * ahead of it is kept as well: a baseline, so that there is something to compare with.
 *
 * What the trigger knew goes into the code table of each process as a line of kind `snapshot`
 * (docs/marker.md).
 */
#ifndef OCULAR_FLIGHT_H
#define OCULAR_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

struct trigger {
	const char *members; /* of a JSON object, without braces: trigger, label, ... */
	uint32_t pid, tid;   /* where it was seen; 0: not known */
	uint64_t tsc;	     /* when; 0: now */
};

/* Takes a snapshot. 0; -ENODATA: nobody is traced; -EDQUOT: there were enough; -ENOMEM. */
int flight_take(struct recorder *r, const struct trigger *t);

/* The process has ended. Unless in order, that is a trigger, too. */
void flight_process_ended(struct recorder *r, uint32_t pid);

/* Lets rings go that nobody writes into and whose history is too old for any snapshot to come. */
void flight_round(struct recorder *r);

/* A process or a thread is new: breakpoints are for it, too. */
void flight_meet(struct recorder *r, uint32_t pid);

/* An order came over the control FIFO, a breakpoint was hit. */
void flight_order(struct recorder *r);
void flight_breakpoint(struct recorder *r, int fd);

/* Appends a line to a code table if there is one: a process that has none left no marker either. */
void flight_append(const struct recorder *r, uint32_t pid, const char *line, size_t length);

/* The recording ends. If nothing has happened, its last moments are what is kept. */
void flight_end(struct recorder *r);

#endif
