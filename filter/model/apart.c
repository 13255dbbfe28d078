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

/* What went on in one began in the other, perhaps. */
static bool has_adopted_from(const struct objects *one, const struct objects *other)
{
	for (struct map_slot *s = NULL; (s = map_next(&one->adopted, s));)
		if (map_get(&other->by_address, s->key))
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
	return (lost && o->serials + p->serials) || has_adopted_from(o, p) || has_adopted_from(p, o);
}

static bool is_entangled(const struct trace *one, const struct trace *other)
{
	for (struct map_slot *s = NULL; (s = map_next(&one->gils, s));)
		if (are_entangled(one, other, (int32_t)s->key))
			return true;
	return false;
}

/* --- which object was at an address, by all traces ------------------------------------------------------------ */

/* Each process where it is met first. */
static bool is_first(const struct trace *first, const struct trace *t, int32_t pid)
{
	const struct trace *x = first;

	while (x != t && !map_get(&x->gils, (uint32_t)pid))
		x = x->next;
	return x == t;
}

static unsigned count_traces(const struct trace *first)
{
	unsigned n = 0;

	for (const struct trace *t = first; t; t = t->next)
		n++;
	return n;
}

/* The process's, in room. */
static unsigned find_objects(const struct trace *first, int32_t pid, struct objects **room)
{
	unsigned n = 0;

	for (const struct trace *t = first; t; t = t->next) {
		struct objects *o = map_get(&t->objects, (uint32_t)pid);

		if (o && o->lives)
			room[n++] = o;
	}
	return n;
}

static int settle_objects_of(const struct trace *first, int32_t pid, struct objects **room)
{
	unsigned n = find_objects(first, pid, room);

	return n > 1 ? lives_settle(room, n) : 0;
}

static int settle_objects(const struct trace *first)
{
	struct objects **room = calloc(count_traces(first), sizeof(*room));
	int err = room ? 0 : -ENOMEM;

	for (const struct trace *t = first; t; t = t->next)
		for (struct map_slot *s = NULL; !err && (s = map_next(&t->gils, s));)
			if (is_first(first, t, (int32_t)s->key))
				err = settle_objects_of(first, (int32_t)s->key, room);
	free(room);
	return err;
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
	struct gil_apart **room = calloc(count_traces(first), sizeof(*room));
	int err = !room ? -ENOMEM : settle(first, room) ? 0 : -EAGAIN;
	free(room);
	return err;
}

int apart_check(const struct trace *first)
{
	for (const struct trace *t = first; t; t = t->next)
		for (const struct trace *more = t->next; more; more = more->next)
			if (is_entangled(t, more))
				return -EAGAIN;
	return settle_objects(first) ?: (first->exchanges ? settle_gils(first) : 0);
}
