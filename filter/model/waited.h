/* SPDX-License-Identifier: MIT */
/*
 * waited.h - in which coroutines something waited, and how long in each: as many as there is room for.
 *
 * Zeroed: nowhere.
 */
#pragma once

#include <stdint.h>

#define WAITED 12 /* places; what does not fit is in the last one, of no code */

struct code;

struct waited {
	struct wait_place {
		const struct code *where; /* NULL: not known */
		uint64_t ns;
	} places[WAITED]; /* in the order in which they came */
};

void waited_add(struct waited *w, const struct code *where, uint64_t ns);

/* The one with most time; its ns are 0 if there is none. */
const struct wait_place *waited_most(const struct waited *w);
