/* SPDX-License-Identifier: MIT */
/* collections.h - garbage collections by generation: how many, how long, and how much they found. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "code/code.h"

/* As CPython numbers them: 0 to 2; larger ones count as the last. */
#define GENERATIONS CODE_GENERATIONS

struct collections {
	struct collection_total {
		uint64_t n, ns, longest_ns;
		uint64_t collected; /* objects */
	} of[GENERATIONS];
};

/* A COLLECTION word's payload (docs/marker.md). */
struct collection {
	bool begins;
	unsigned generation;
	uint64_t collected; /* at its end */
};

struct collection collection_of(uint64_t payload);

/* One ended that took ns. */
void collections_add(struct collections *c, const struct collection *ended, uint64_t ns);

void collections_join(struct collections *to, const struct collections *more);

/* All generations together. */
struct collection_total collections_all(const struct collections *c);
