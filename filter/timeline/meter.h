/* SPDX-License-Identifier: MIT */
/*
 * meter.h - how busy a thread is: events a second and the deepest stack, millisecond by millisecond.
 *
 * All threads have the same milliseconds, those of the timeline. A reading holds from its time to the next one's; a
 * millisecond without an event gives none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define METER_PERIOD 1000000u /* ns */

struct meter {
	bool running;
	uint64_t begin;	 /* ns: of the millisecond being counted */
	uint64_t events; /* in it so far */
	uint64_t depth, deepest;
};

struct reading {
	uint64_t ns;
	uint64_t rate;	/* events a second */
	uint64_t depth; /* deepest stack */
};

/* An event at `ns`. Returns how many readings it completed: 0, 1, or 2 if nothing happened since. */
unsigned meter_event(struct meter *m, uint64_t ns, struct reading readings[static 2]);

/* The same of an event in the period of the one before it, as most are: true, and there are no readings. */
static inline bool meter_goes_on(struct meter *m, uint64_t ns)
{
	bool goes_on = m->running && ns < m->begin + METER_PERIOD;

	m->events += goes_on;
	return goes_on;
}

/* Events of before this time complete no reading; 0: the next one may begin. */
static inline uint64_t meter_end(const struct meter *m)
{
	return m->running ? m->begin + METER_PERIOD : 0;
}

/* So many of them. */
static inline void meter_passed(struct meter *m, uint64_t events)
{
	m->events += events;
}

/* The stack is `depth` deep from now on. */
static inline void meter_depth(struct meter *m, uint64_t depth)
{
	m->depth = depth;
	if (depth > m->deepest)
		m->deepest = depth;
}

/* The thread is over at `ns`. Returns how many readings are left. */
unsigned meter_finish(struct meter *m, uint64_t ns, struct reading readings[static 2]);
