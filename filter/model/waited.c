// SPDX-License-Identifier: MIT
#include "waited.h"

#include <stddef.h>

static struct wait_place *place_of(struct waited *w, const struct code *where)
{
	struct wait_place *last = &w->places[WAITED - 1];

	for (struct wait_place *p = w->places; p < last; p++) {
		if (!p->ns)
			p->where = where;
		if (p->where == where)
			return p;
	}
	return last;
}

void waited_add(struct waited *w, const struct code *where, uint64_t ns)
{
	if (ns)
		place_of(w, where)->ns += ns;
}

const struct wait_place *waited_most(const struct waited *w)
{
	const struct wait_place *most = w->places;

	for (size_t i = 1; i < WAITED; i++)
		if (w->places[i].ns > most->ns)
			most = &w->places[i];
	return most;
}
