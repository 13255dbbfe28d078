// SPDX-License-Identifier: MIT
/*
 * A round has one CPU's records after another's, each in order. Waiting records are sorted together when they are due:
 * inserting each late one would cost the square of a round's length.
 */
#include "perf_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

int perf_order_add(struct perf_order *o, const struct perf_side *s)
{
	if (!s->time)
		return o->deliver(o->to, s);
	if (!ARRAY_ROOM(o->waiting, o->n, o->room))
		return -ENOMEM;
	if (o->n && s->time < o->waiting[o->n - 1].side.time)
		o->shuffled = true;
	o->waiting[o->n++] = (struct perf_waiting){ *s, o->arrived++ };
	if (s->time > o->latest)
		o->latest = s->time;
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct perf_waiting *a = x, *b = y;

	if (a->side.time != b->side.time)
		return a->side.time < b->side.time ? -1 : 1;
	return a->arrived < b->arrived ? -1 : 1;
}

static int deliver(struct perf_order *o, uint64_t limit)
{
	size_t n = 0;
	int err = 0;

	if (o->shuffled)
		qsort(o->waiting, o->n, sizeof(*o->waiting), by_time);
	o->shuffled = false;
	while (!err && n < o->n && o->waiting[n].side.time <= limit)
		err = o->deliver(o->to, &o->waiting[n++].side);
	o->n -= n;
	if (n)
		memmove(o->waiting, o->waiting + n, o->n * sizeof(*o->waiting));
	return err;
}

int perf_order_round(struct perf_order *o)
{
	int err = deliver(o, o->limit);

	o->limit = o->latest;
	return err;
}

int perf_order_end(struct perf_order *o)
{
	return deliver(o, UINT64_MAX);
}

void perf_order_free(struct perf_order *o)
{
	free(o->waiting);
}
