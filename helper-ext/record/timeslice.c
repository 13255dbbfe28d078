/* SPDX-License-Identifier: MIT */
/* timeslice.c - see timeslice.h. */
#include <time.h>

#include "clock.h"
#include "timeslice.h"

/* A delay of a fifth of a millisecond is nothing compared with the call that asks for a snapshot. */
#define STRETCH_NS 200000u
/* The kernel adds some 50 us (timer slack), so we work half of the time: the call gets done in one nap. */
#define NAP_NS 150000

void timeslice_begin(struct timeslice *s)
{
	s->began_ns = clock_monotonic_ns();
}

void timeslice_check(struct timeslice *s)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	if (clock_monotonic_ns() < s->began_ns + STRETCH_NS)
		return;
	nanosleep(&nap, NULL);
	timeslice_begin(s);
}
