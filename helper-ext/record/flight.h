/* SPDX-License-Identifier: MIT */
/*
 * flight.h - the flight recorder: nothing is taken from the rings until something happens.
 *
 * A snapshot holds what all rings have of the last moments before its trigger. All rings are copied first, in one go,
 * and written afterwards, in stretches (timeslice.h); no thread waits for either. No later snapshot takes the same
 * words again, so the segments of a thread follow one another in its trace.
 *
 * With the first snapshot (if --flight is a time) whose rings reach back further, the window of the same length before
 * it is saved as well: the baseline, so that there is something to compare with.
 *
 * The trigger's values go into the code table of each process, as a line of kind `snapshot` (docs/marker.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state.h"

struct trigger {
	const char *members; /* of a JSON object, without braces: trigger, label, ... */
	uint32_t pid, tid;   /* the trigger's; 0: not known */
	uint64_t tsc;	     /* when; 0: now */
};

/* Takes a snapshot. 0; -ENODATA: nobody is traced; -EDQUOT: the maximum number is reached; -ENOMEM. */
int flight_take(struct recorder *r, const struct trigger *t);

/* The process has ended. That is a trigger, too, unless it stopped in order. */
void flight_process_ended(struct recorder *r, uint32_t pid);

/* Releases rings that nobody writes into and whose history is too old for any later snapshot. */
void flight_round(struct recorder *r);

/* A process or a thread is new: it gets the breakpoints, too. */
void flight_meet(struct recorder *r, uint32_t pid);

/* An order came over the control FIFO, a breakpoint was hit. */
void flight_order(struct recorder *r);
void flight_breakpoint(struct recorder *r, int fd);

/* Appends a line to a code table if there is one: a process without a table left no marker either. */
void flight_append(const struct recorder *r, uint32_t pid, const char *line, size_t length);

/* The recording ends. If nothing was saved, its last moments are. */
void flight_end(struct recorder *r);
