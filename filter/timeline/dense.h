/* SPDX-License-Identifier: MIT */
/*
 * dense.h - whether a loop's trips come so densely that points would hide each other.
 *
 * A screen shows some 2,000 points beside each other. Once DENSE_TRIPS came within DENSE_NS, 50 us apart on average,
 * the loop stays dense, so that all that follows is in one place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DENSE_TRIPS 200
#define DENSE_NS    10000000

/* Zeroed: no trip yet. */
struct dense {
	uint64_t since_ns; /* the first of `trips` */
	uint32_t trips;
	bool always;
};

/* A trip ended; times do not run backwards. Is the loop dense from here on? */
static inline bool dense_trip(struct dense *d, uint64_t ns)
{
	if (d->always)
		return true;
	if (!d->trips || ns - d->since_ns > DENSE_NS) {
		d->since_ns = ns;
		d->trips = 0;
	}
	return d->always = ++d->trips > DENSE_TRIPS;
}
