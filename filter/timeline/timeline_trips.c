// SPDX-License-Identifier: MIT
/*
 * Trips of loops: points on their thread's track. Of a loop whose trips are dense (dense.h) points would cover each
 * other: its trips are slices, on a row of their own.
 */
#include "timeline_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "perfetto.h"

static int write_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from, uint64_t ns)
{
	if (trip->ns < v->min_ns) {
		v->shorter.trips++;
		return 0;
	}
	if (trip->ns < v->floor_ns) {
		v->beyond.trips++;
		return 0;
	}
	return WRITE(v, t, v->beyond.trips, trip, trip, from, ns);
}

/* "loop work:7", with the thread if it is not the main one. NULL: no memory. */
static struct track *loop_row(struct timeline *v, const struct trip *trip)
{
	struct track *t = timeline_titled(v, TIMELINE_LOOPS_OF + trip->in->pid, TIMELINE_LOOP + (int32_t)v->loop_rows,
					  "loop", 0);
	char *name = t ? perfetto_loop(trip->loop) : NULL;

	if (!name)
		return NULL;
	v->loop_rows++;
	t->of_loop = true;
	if (trip->in->tid == trip->in->pid)
		snprintf(t->title, sizeof(t->title), "%s", name);
	else
		snprintf(t->title, sizeof(t->title), "%.60s, thread %d", name, trip->in->tid);
	free(name);
	return t;
}

/* The row of a loop that is dense; NULL: it is not, or there are too many. */
static int find_row(struct timeline *v, struct track *t, const struct trip *trip, struct track **row)
{
	struct looping *l = map_get(&t->loopings, (uintptr_t)trip->loop);

	*row = NULL;
	if (!l && !(l = map_add(&t->loopings, (uintptr_t)trip->loop, sizeof(*l))))
		return sink_file_no_memory(&v->file.sink);
	if (!dense_trip(&l->dense, trip->end_ns) || trip->in->tid < 0)
		return 0;
	if (!l->row && v->loop_rows < TIMELINE_LOOPS && !(l->row = loop_row(v, trip)))
		return sink_file_no_memory(&v->file.sink);
	*row = l->row;
	return 0;
}

/*
 * A point where the trip ended; of a dense loop a slice on its row, unless the row has one that it would overlap: of a
 * recursive call, or of another generator of that code.
 */
static int show_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t ns)
{
	uint64_t from = timeline_since_start(v, trip->end_ns - trip->ns - trip->suspended_ns);
	struct track *row;
	int err = find_row(v, t, trip, &row);

	if (err || !row || from < row->last_ns || ns < from)
		return err ?: write_trip(v, t, trip, ns, ns);
	row->last_ns = ns;
	return write_trip(v, row, trip, from, ns);
}

/* A trip is not longer than its activation: if the trip is shown, so is the activation. */
int timeline_iterate(struct sink *s, const struct trip *trip)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_activation_track(v, trip->in);
	uint64_t ns, before;
	int err = 0;

	if (!t)
		return sink_file_no_memory(s);
	if (v->iterations == ITERATIONS_NONE || (v->iterations == ITERATIONS_INSTANTS && !trip->timed))
		return 0;
	if (trip->timed && trip->ns >= v->floor_ns)
		err = timeline_write_begins(v, t);
	if (err)
		return err;
	ns = track_at(t, timeline_since_start(v, trip->end_ns));
	if (v->iterations == ITERATIONS_INSTANTS)
		return show_trip(v, t, trip, ns);
	before = track_edge(t, trip->loop, ns, &err);
	if (err)
		return sink_file_no_memory(s);
	return trip->timed && before != UINT64_MAX ? write_trip(v, t, trip, before, ns) : 0;
}
