/* SPDX-License-Identifier: MIT */
/*
 * wakeup.h - how long a thread that wakes up has been on its CPU when the kernel records that it was switched in.
 *
 * The kernel counts CPU time from when it chooses the thread, and records the switch when it is done: after 1 us, in a
 * virtual machine 10. It is the same for all threads, so the recorder, which wakes up all the time, measures it on
 * itself: by its own switches it was on a CPU for less time than its CPU clock says.
 */
#pragma once

#include <stdint.h>

#include "switches.h"

struct wakeup {
	struct switches own;
	uint64_t since_ns; /* CLOCK_MONOTONIC, when the figures below begin */
	uint64_t used_ns;  /* CPU time then */
	uint64_t off_ns;   /* not on a CPU since */
	uint64_t out_ns;   /* when it was switched out last */
	uint32_t n;	   /* times it woke up since */
	uint32_t ns;	   /* the result so far; 0: not known */
};

/*
 * Begins with the calling thread. 0 or a negative errno: nobody's switches can be seen. The first event on a machine
 * takes 10 ms or more to open, all others some 20 us: this one stays until wakeup_close().
 */
int wakeup_open(struct wakeup *w);

/* By all that has happened since. The same thread calls it, several times a second. */
void wakeup_measure(struct wakeup *w);

void wakeup_close(struct wakeup *w);
