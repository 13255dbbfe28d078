// SPDX-License-Identifier: MIT
#include "apart.h"

#include <errno.h>
#include <stdlib.h>

#include "gil_apart.h"
#include "objects.h"

bool apart_is(const struct trace *first, int32_t pid)
{
	unsigned n = 0;

	for (const struct trace *t = first; t; t = t->next)
		n += map_get(&t->gils, (uint32_t)pid) != NULL;
	return n > 1;
}

/* What becomes of an object there, or became of it before, may be for another thread to tell. */
static bool is_open(const struct objects *all, uint64_t address)
{
	return objects_find(all, address) || map_get(&all->adopted, address);
}

/* One that began and ended in its thread is nothing to another that had the address before or after. */
static bool share_addresses(const struct objects *one, const struct objects *other)
{
	for (struct map_slot *s = NULL; (s = map_next(&one->by_address, s));)
		if (map_get(&other->by_address, s->key) && (is_open(one, s->key) || is_open(other, s->key)))
			return true;
	return false;
}

/* Without a header that says so, the first address tells that there will be some: of objects of other threads, too. */
static bool is_told_late(const struct trace *t, const struct objects *o, int32_t pid)
{
	const struct process *p = codes_process(t->profile.codes, pid);

	return o->told && !(p && p->identity);
}

static bool are_entangled(const struct trace *one, const struct trace *other, int32_t pid)
{
	const struct gil *g = map_get(&one->gils, (uint32_t)pid), *h = map_get(&other->gils, (uint32_t)pid);
	const struct objects *o = map_get(&one->objects, (uint32_t)pid), *p = map_get(&other->objects, (uint32_t)pid);
	bool lost = one->profile.gaps + other->profile.gaps > 0;

	if (!g || !h || !o || !p)
		return false;
	if ((!g->apart && (g->told || h->told)) || is_told_late(one, o, pid) || is_told_late(other, p, pid))
		return true;
	return (lost && o->serials + p->serials) || share_addresses(o, p);
}

static bool is_entangled(const struct trace *one, const struct trace *other)
{
	for (struct map_slot *s = NULL; (s = map_next(&one->gils, s));)
		if (are_entangled(one, other, (int32_t)s->key))
			return true;
	return false;
}

/* --- whose the GIL was, by all traces ------------------------------------------------------------------------- */

/* Of all traces' of the process. */
static uint64_t latest(const struct trace *first, int32_t pid)
{
	uint64_t ns = 0;

	for (const struct trace *t = first; t; t = t->next) {
		const struct gil *g = map_get(&t->gils, (uint32_t)pid);

		ns = g && g->since_ns > ns ? g->since_ns : ns;
	}
	return ns;
}

/* The process's, ended, if somebody waited for it; in room. */
static unsigned end_gils(const struct trace *first, int32_t pid, struct gil_apart **room)
{
	uint64_t ns = latest(first, pid);
	unsigned n = 0;

	for (const struct trace *t = first; t; t = t->next) {
		struct gil *g = map_get(&t->gils, (uint32_t)pid);

		if (!g || !g->told)
			continue;
		gil_end(g, ns);
		room[n++] = g->apart;
	}
	return n;
}

/* Each process where it is met first. */
static bool is_first(const struct trace *first, const struct trace *t, int32_t pid)
{
	const struct trace *x = first;

	while (x != t && !map_get(&x->gils, (uint32_t)pid))
		x = x->next;
	return x == t;
}

static bool settle(const struct trace *first, struct gil_apart **room)
{
	bool clear = true;

	for (const struct trace *t = first; t; t = t->next)
		for (struct map_slot *s = NULL; clear && (s = map_next(&t->gils, s));)
			if (is_first(first, t, (int32_t)s->key))
				clear = gil_apart_settle(room, end_gils(first, (int32_t)s->key, room));
	return clear;
}

static int settle_gils(const struct trace *first)
{
	struct gil_apart **room;
	size_t n = 0;
	int err;

	for (const struct trace *t = first; t; t = t->next)
		n++;
	room = calloc(n, sizeof(*room));
	err = !room ? -ENOMEM : settle(first, room) ? 0 : -EAGAIN;
	free(room);
	return err;
}

int apart_check(const struct trace *first)
{
	for (const struct trace *t = first; t; t = t->next)
		for (const struct trace *more = t->next; more; more = more->next)
			if (is_entangled(t, more))
				return -EAGAIN;
	return first->exchanges ? settle_gils(first) : 0;
}
