// SPDX-License-Identifier: MIT
/*
 * PY_RESUME comes at the RESUME after the YIELD_VALUE, PY_THROW at the YIELD_VALUE itself or there too (3.12 to 3.15
 * differ): the two are at most one code unit apart.
 */
#include "resumption.h"

#include <errno.h>
#include <stdlib.h>

#include "model/objects.h"

#define UNIT 2

static struct resumption *find(const struct resumptions *w, const struct code *code, int64_t offset)
{
	struct resumption *k = map_get(&w->by_code, (uintptr_t)code);

	while (k && k->offset != offset)
		k = k->next;
	return k;
}

static struct resumption *make(struct resumptions *w, const struct code *code, int64_t offset)
{
	struct resumption *next = map_get(&w->by_code, (uintptr_t)code);
	struct resumption *k = map_add(&w->by_code, (uintptr_t)code, sizeof(*k));

	if (k)
		*k = (struct resumption){ .offset = offset, .next = next };
	return k;
}

int resumptions_yield(struct resumptions *w, const struct code *code, int64_t offset, const struct track *track,
		      uint64_t shown)
{
	struct resumption *k = find(w, code, offset);

	if (!k)
		k = make(w, code, offset);
	if (!k)
		return -ENOMEM;
	k->sure = !k->suspended && track;
	k->suspended++;
	k->track = track;
	k->shown = shown;
	return 0;
}

bool resumptions_resume(struct resumptions *w, const struct code *code, int64_t offset, struct resumption *from)
{
	struct resumption *k = find(w, code, offset - UNIT);

	if (!k || !k->suspended)
		k = find(w, code, offset);
	if (!k || !k->suspended)
		return false;
	*from = *k;
	k->suspended--;
	k->sure = false;
	return from->sure && from->suspended == 1 && !w->lost;
}

int resumptions_yield_object(struct resumptions *w, const struct object *o, const struct track *track, uint64_t shown)
{
	struct resumption *k = map_get(&w->objects, o->address);

	k = k ? k : map_add(&w->objects, o->address, sizeof(*k));
	if (!k)
		return -ENOMEM;
	*k = (struct resumption){ .serial = o->serial, .track = track, .shown = shown };
	return 0;
}

const struct resumption *resumptions_resume_object(const struct resumptions *w, const struct object *o)
{
	const struct resumption *k = map_get(&w->objects, o->address);

	return k && k->serial == o->serial ? k : NULL;
}

void resumptions_free(struct resumptions *w)
{
	for (struct map_slot *s = NULL; (s = map_next(&w->by_code, s));)
		for (struct resumption *k = s->value, *next; k; k = next) {
			next = k->next;
			free(k);
		}
	map_free(&w->by_code);
	map_free_all(&w->objects);
}
