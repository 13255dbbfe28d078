// SPDX-License-Identifier: MIT
/* Most records come in order; one that does not moves up from the end. */
#include "perf_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int perf_order_add(struct perf_order *o, const struct perf_side *s)
{
	struct perf_side *waiting;
	size_t at;

	if (!s->time)
		return o->deliver(o->to, s);
	if (o->n == o->room) {
		waiting = realloc(o->waiting, (o->room ? 2 * o->room : 256) * sizeof(*waiting));
		if (!waiting)
			return -ENOMEM;
		o->waiting = waiting;
		o->room = o->room ? 2 * o->room : 256;
	}
	for (at = o->n; at && o->waiting[at - 1].time > s->time; at--)
		;
	memmove(&o->waiting[at + 1], &o->waiting[at], (o->n++ - at) * sizeof(*s));
	o->waiting[at] = *s;
	if (s->time > o->latest)
		o->latest = s->time;
	return 0;
}

static int deliver(struct perf_order *o, uint64_t limit)
{
	size_t n = 0;
	int err = 0;

	while (!err && n < o->n && o->waiting[n].time <= limit)
		err = o->deliver(o->to, &o->waiting[n++]);
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
