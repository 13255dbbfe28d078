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

/* Somebody waited for it: is it not known whose it was? */
static bool share_gil(const struct gil *g, const struct gil *h)
{
	if (!g->told && !h->told)
		return false;
	if (!g->apart || !h->apart)
		return true;
	return gil_apart_clash(g->apart, h->apart);
}

static bool are_entangled(const struct trace *one, const struct trace *other, int32_t pid)
{
	const struct gil *g = map_get(&one->gils, (uint32_t)pid), *h = map_get(&other->gils, (uint32_t)pid);
	const struct objects *o = map_get(&one->objects, (uint32_t)pid), *p = map_get(&other->objects, (uint32_t)pid);
	bool lost = one->profile.gaps + other->profile.gaps > 0;

	if (!g || !h || !o || !p)
		return false;
	if (share_gil(g, h) || is_told_late(one, o, pid) || is_told_late(other, p, pid))
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

/* --- what the end of another wait says of the GIL, by all traces ---------------------------------------------- */

static unsigned gils_of(const struct trace *first, int32_t pid, const struct gil_apart **all)
{
	unsigned n = 0;

	for (const struct trace *t = first; t; t = t->next) {
		const struct gil *g = map_get(&t->gils, (uint32_t)pid);

		if (g && g->apart && g->told)
			all[n++] = g->apart;
	}
	return n;
}

static bool is_unsure(const struct trace *first, const struct trace *t, const struct gil_apart **room)
{
	bool unsure = false;

	for (struct map_slot *s = NULL; !unsure && (s = map_next(&t->gils, s));) {
		const struct gil *g = s->value;

		if (g->apart && g->told)
			unsure = gil_apart_unsure(g->apart, room, gils_of(first, (int32_t)s->key, room));
	}
	return unsure;
}

static int check_gils(const struct trace *first)
{
	const struct gil_apart **room;
	size_t n = 0;
	int err;

	for (const struct trace *t = first; t; t = t->next)
		n++;
	room = calloc(n, sizeof(*room));
	err = room ? 0 : -ENOMEM;
	for (const struct trace *t = first; t && !err; t = t->next)
		err = is_unsure(first, t, room) ? -EAGAIN : 0;
	free(room);
	return err;
}

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

static void end_gils(const struct trace *first)
{
	for (const struct trace *t = first; t; t = t->next)
		for (struct map_slot *s = NULL; (s = map_next(&t->gils, s));)
			gil_end(s->value, latest(first, (int32_t)s->key));
}

static void correct_gils(const struct trace *first)
{
	for (const struct trace *t = first; t; t = t->next)
		for (struct map_slot *s = NULL; (s = map_next(&t->gils, s));)
			gil_apart_correct(((struct gil *)s->value)->apart);
}

int apart_check(const struct trace *first)
{
	int err;

	if (first->exchanges)
		end_gils(first);
	for (const struct trace *t = first; t; t = t->next)
		for (const struct trace *more = t->next; more; more = more->next)
			if (is_entangled(t, more))
				return -EAGAIN;
	err = first->exchanges ? check_gils(first) : 0;
	if (!err && first->exchanges)
		correct_gils(first);
	return err;
}
