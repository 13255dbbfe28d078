// SPDX-License-Identifier: MIT
/*
 * What the file has room for: --max-size, and how long a slice must be to be shown, which rises as the file fills.
 *
 * A file that is full ends neither the sink nor the trace: what was left out is counted, by kind, and told at the end
 * in bytes that were kept for that. Nothing here knows what it is that is written.
 */
#include "timeline_parts.h"

char *timeline_make_room(struct timeline *v, size_t size, int *err)
{
	char *to;

	if (v->max_size && !out_fits(&v->file.out, size + v->reserved, v->max_size)) {
		*err = TIMELINE_FULL;
		return NULL;
	}
	to = out_reserve(&v->file.out, size);
	*err = to ? 0 : sink_file_no_memory(&v->file.sink);
	return to;
}

int timeline_fail(struct timeline *v, struct track *t, int err, uint64_t *what)
{
	if (err != TIMELINE_FULL)
		return err ? err : sink_file_status(&v->file.sink);
	++*what;
	if (!v->full_track) {
		v->full_track = t;
		v->full_ns = t->last_ns;
	}
	v->full = true;
	return 0;
}

/* 4^15 us are 18 minutes: what is longer has room in the last 65,536th. */
#define HALVINGS 16

/*
 * How long the trace will be is not known: whenever half of the room that was left is used up, slices must be four
 * times as long as before to be shown, 1 us at first. So the longest ones have room to the end.
 */
void timeline_raise_it(struct timeline *v, struct track *t)
{
	uint64_t us = 1ull << 2 * v->halvings;

	if (v->halvings == HALVINGS ||
	    out_fits(&v->file.out, v->reserved, v->max_size - (v->max_size >> (v->halvings + 1))))
		return;
	v->halvings++;
	v->floor_ns = v->floor_ns > 1000 * us ? v->floor_ns : 1000 * us;
	if (!v->full_track) {
		v->full_track = t;
		v->full_ns = t->last_ns;
	}
}

static int report_left_out(struct timeline *v, struct track *t, uint64_t ns, const char *name, const struct left_out *l,
			   const char *why, uint64_t limit)
{
	struct mark mark = {
		.category = "limit",
		.name = name,
		.n = 4,
		.args = { { why, limit }, { "slices", l->slices }, { "trips", l->trips }, { "others", l->others } },
	};
	int err;

	if (l == &v->beyond && v->floor_ns > v->min_ns) {
		mark.args[mark.n].key = "shorter_than_ns";
		mark.args[mark.n++].value = v->floor_ns;
	}
	if (!t || !(l->slices | l->trips | l->others))
		return 0;
	err = v->format->mark(v, t, ns, &mark);
	return err == TIMELINE_FULL ? 0 : err;
}

int timeline_report_limits(struct timeline *v)
{
	int err;

	v->reserved = 0;
	if (!v->last)
		return 0;
	err = report_left_out(v, v->full_track, v->full_ns, "LEFT OUT: --max-size", &v->beyond, "bytes", v->max_size);
	if (!err)
		err = report_left_out(v, v->last, v->last->last_ns, "LEFT OUT: --min-duration", &v->shorter, "ns",
				      v->min_ns);
	return err;
}
