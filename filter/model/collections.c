// SPDX-License-Identifier: MIT
#include "collections.h"

#include "shared/marker.h"

struct collection collection_of(uint64_t payload)
{
	unsigned generation = payload >> MARKER_GENERATION_SHIFT & MARKER_GENERATION_MAX;

	return (struct collection){
		.begins = payload & MARKER_COLLECTION_BEGINS,
		.generation = generation < GENERATIONS ? generation : GENERATIONS - 1,
		.collected = payload & MARKER_COLLECTED_MAX,
	};
}

static void join(struct collection_total *to, const struct collection_total *more)
{
	to->n += more->n;
	to->ns += more->ns;
	to->collected += more->collected;
	if (more->longest_ns > to->longest_ns)
		to->longest_ns = more->longest_ns;
}

void collections_add(struct collections *c, const struct collection *ended, uint64_t ns)
{
	join(&c->of[ended->generation], &(struct collection_total){ 1, ns, ns, ended->collected });
}

void collections_join(struct collections *to, const struct collections *more)
{
	for (unsigned i = 0; i < GENERATIONS; i++)
		join(&to->of[i], &more->of[i]);
}

struct collection_total collections_all(const struct collections *c)
{
	struct collection_total all = { 0 };

	for (unsigned i = 0; i < GENERATIONS; i++)
		join(&all, &c->of[i]);
	return all;
}
