/* SPDX-License-Identifier: MIT */
/* schedule.h - when the windows of a duty cycle are (ring.h). All processes compute the same. */
#pragma once

#include "shared/ring.h"

/* The number of the window that contains `now`, from 1; 0: it is between two, or before the first. */
static inline uint64_t schedule_window(const struct ring_duty *d, uint64_t now)
{
	if (!d->period_ns || now < d->start_ns || (now - d->start_ns) % d->period_ns >= d->window_ns)
		return 0;
	return (now - d->start_ns) / d->period_ns + 1;
}

/* When that window begins. */
static inline uint64_t schedule_begin(const struct ring_duty *d, uint64_t window)
{
	return d->start_ns + (window - 1) * d->period_ns;
}

/* The first time after `now` when a window begins or ends. */
static inline uint64_t schedule_edge(const struct ring_duty *d, uint64_t now)
{
	uint64_t period;

	if (now < d->start_ns)
		return d->start_ns;
	period = now - (now - d->start_ns) % d->period_ns;
	return now < period + d->window_ns ? period + d->window_ns : period + d->period_ns;
}
