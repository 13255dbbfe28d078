// SPDX-License-Identifier: MIT
#include "lives.h"

#include <errno.h>
#include <stdlib.h>

#include "objects.h"
#include "shared/array.h"

/* Those that ended matter only to what was suspended meanwhile. */
static void forget_ended(struct lives *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		const struct life *life = &l->all[i];

		if (!life->ended)
			l->all[kept++] = *life;
		else if (life->last_ns > l->forgotten_ns)
			l->forgotten_ns = life->last_ns;
	}
	l->unknown |= kept > LIVES_MOST / 2;
	l->n = l->unknown ? 0 : kept;
}

void lives_add(struct lives *l, const struct life *life)
{
	if (l->n == LIVES_MOST)
		forget_ended(l);
	l->unknown |= !ARRAY_ROOM(l->all, l->n, l->room);
	if (!l->unknown)
		l->all[l->n++] = *life;
}

void lives_free(struct lives *l)
{
	free(l->all);
	*l = (struct lives){ 0 };
}

/* --- of all analyses ------------------------------------------------------------------------------------------ */

/* Whose a life was. */
struct owned {
	const struct life *life;
	unsigned of;
};

struct owned_lives {
	struct owned *all;
	uint32_t n, room;
};

/* What is still at its address. What was adopted has begun elsewhere: apart.c looks for these. */
static void add_open(struct objects *all)
{
	for (struct map_slot *s = NULL; (s = map_next(&all->by_address, s));) {
		struct object *o = objects_find(all, s->key);

		if (o && !o->older)
			lives_add(all->lives, &(struct life){ o->address, o->begun_ns, object_last_ns(o), o, false });
	}
}

/* Addresses at which something was destroyed without an event, or may go on. */
static int find_unended(struct objects **of, unsigned n, struct map *unended)
{
	int err = 0;

	for (unsigned i = 0; i < n && !err; i++) {
		const struct lives *l = of[i]->lives;

		err = l->unknown ? -EAGAIN : 0;
		for (uint32_t k = 0; k < l->n && !err; k++)
			err = l->all[k].ended ? 0 : map_put(unended, l->all[k].address, &l->all[k]);
	}
	return err;
}

/* Another analysis had objects at its address of which nothing is known any more. */
static bool is_forgotten(struct objects **of, unsigned n, const struct owned *o)
{
	bool forgotten = false;

	for (unsigned i = 0; i < n && !o->life->ended; i++)
		forgotten |= i != o->of && of[i]->lives->forgotten_ns >= o->life->begun_ns &&
			     map_get(&of[i]->by_address, o->life->address);
	return forgotten;
}

static int collect(struct objects **of, unsigned n, const struct map *unended, struct owned_lives *to)
{
	int err = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct lives *l = of[i]->lives;

		for (uint32_t k = 0; k < l->n && !err; k++) {
			const struct owned o = { &l->all[k], i };

			if (!map_get(unended, o.life->address))
				continue;
			err = is_forgotten(of, n, &o) ? -EAGAIN : ARRAY_ROOM(to->all, to->n, to->room) ? 0 : -ENOMEM;
			if (!err)
				to->all[to->n++] = o;
		}
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct life *x = ((const struct owned *)a)->life, *y = ((const struct owned *)b)->life;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->begun_ns != y->begun_ns)
		return x->begun_ns < y->begun_ns ? -1 : 1;
	return x->last_ns < y->last_ns ? -1 : x->last_ns > y->last_ns;
}

/* One analysis has one object after the other at an address. */
static int settle_address(struct objects **of, const struct owned *o, uint32_t n)
{
	const struct owned *latest = o;

	for (uint32_t i = 1; i < n; i++) {
		if (o[i].of != latest->of && o[i].life->begun_ns <= latest->life->last_ns)
			return -EAGAIN;
		if (latest->life->open)
			objects_replaced(of[latest->of], latest->life->open);
		latest = &o[i];
	}
	return 0;
}

static int settle(struct objects **of, struct owned_lives *lives)
{
	int err = 0;

	qsort(lives->all, lives->n, sizeof(*lives->all), compare);
	for (uint32_t i = 0, n; i < lives->n && !err; i += n) {
		for (n = 1; i + n < lives->n && lives->all[i + n].life->address == lives->all[i].life->address;)
			n++;
		err = settle_address(of, &lives->all[i], n);
	}
	return err;
}

int lives_settle(struct objects **of, unsigned n)
{
	struct owned_lives lives = { 0 };
	struct map unended = { 0 };
	int err;

	for (unsigned i = 0; i < n; i++)
		add_open(of[i]);
	err = find_unended(of, n, &unended) ?: collect(of, n, &unended, &lives);
	if (!err && lives.n)
		err = settle(of, &lives);
	free(lives.all);
	map_free(&unended);
	return err;
}
