// SPDX-License-Identifier: MIT
/* The map's values are never removed: at the address of what has ended there is `dead`. */
#include "greenlets.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

static struct greenlet dead;

struct greenlet *greenlets_at(struct greenlets *all, struct greenlet_totals *totals, uint64_t address, int32_t pid,
			      int32_t tid)
{
	struct greenlet *g = map_get(&all->by_address, address);

	if (g && g != &dead)
		return g;
	g = map_add(&all->by_address, address, sizeof(*g));
	if (g)
		*g = (struct greenlet){ .pid = pid, .tid = tid, .number = ++totals->count, .address = address };
	return g;
}

void greenlets_until(struct greenlets *all, uint64_t ns)
{
	if (all->running && ns > all->since_ns)
		all->running->running_ns += ns - all->since_ns;
	all->since_ns = ns;
}

static int add_row(struct greenlet_totals *totals, const struct greenlet *g)
{
	if (totals->n == GREENLETS_MOST) {
		totals->others.running_ns += g->running_ns;
		totals->others.switches += g->switches;
		totals->others.count++;
		return 0;
	}
	if (!ARRAY_ROOM(totals->rows, totals->n, totals->size))
		return -ENOMEM;
	totals->rows[totals->n++] = (struct greenlet_total){ g->pid,	    g->tid,	 g->number, g->function,
							     g->running_ns, g->switches, 1 };
	return 0;
}

int greenlets_end(struct greenlets *all, struct greenlet_totals *totals, struct greenlet *g)
{
	int err = add_row(totals, g);

	if (all->running == g)
		all->running = NULL;
	map_put(&all->by_address, g->address, &dead); /* there already: needs no memory */
	free(g);
	return err;
}

int greenlets_finish(struct greenlets *all, struct greenlet_totals *totals)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&all->by_address, s));)
		if (s->value != &dead)
			err = add_row(totals, s->value);
	return err;
}

static int compare(const void *one, const void *other)
{
	const struct greenlet_total *a = one, *b = other;

	if (a->running_ns != b->running_ns)
		return a->running_ns < b->running_ns ? 1 : -1;
	return a->number < b->number ? -1 : 1;
}

void greenlets_rank(struct greenlet_totals *totals)
{
	if (totals->n)
		qsort(totals->rows, totals->n, sizeof(*totals->rows), compare);
}

static int compare_functions(const void *one, const void *other)
{
	const struct greenlet_total *a = one, *b = other;

	if (a->function != b->function)
		return (uintptr_t)a->function < (uintptr_t)b->function ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

struct greenlet_total *greenlets_by_function(const struct greenlet_totals *totals, size_t *n)
{
	struct greenlet_total *all = calloc(totals->n + 2, sizeof(*all));
	size_t made = 0;

	for (size_t i = 0; all && i < totals->n; i++)
		all[i] = totals->rows[i];
	if (all && totals->n)
		qsort(all, totals->n, sizeof(*all), compare_functions);
	for (size_t i = 0; all && i < totals->n; i++) {
		if (!made || all[made - 1].function != all[i].function) {
			all[made++] = all[i];
			continue;
		}
		all[made - 1].running_ns += all[i].running_ns;
		all[made - 1].switches += all[i].switches;
		all[made - 1].count++;
	}
	if (made)
		qsort(all, made, sizeof(*all), compare);
	if (all && totals->others.count)
		all[made++] = totals->others;
	*n = made;
	return all;
}

void greenlets_free(struct greenlets *all)
{
	for (struct map_slot *s = NULL; (s = map_next(&all->by_address, s));)
		if (s->value != &dead)
			free(s->value);
	map_free(&all->by_address);
}
