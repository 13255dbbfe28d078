// SPDX-License-Identifier: MIT
/*
 * The snapshots of a flight recording: a track that says what triggered each, and how far back it reaches.
 */
#include "timeline_parts.h"

#include "model/profile.h"

/* The values of their triggers are in the code tables, which are complete at the end. */
int timeline_segment(struct sink *s, const struct sample *edge)
{
	struct timeline *v = (struct timeline *)s;

	if (edge->window)
		return 0;
	return map_put(&v->snapshots, edge->number, v) ? sink_file_no_memory(s) : 0;
}

/* Each begins where the previous one ended, or later. */
static int write_snapshot(struct timeline *v, struct track *t, const struct snapshot *s)
{
	uint64_t from = track_at(t, timeline_since_start(v, s->from_ns));
	uint64_t until = track_at(t, timeline_since_start(v, s->at_ns));

	return WRITE(v, t, v->beyond.others, snapshot, s, from, until);
}

int timeline_write_snapshots(struct timeline *v, const struct codes *codes)
{
	struct track *t = NULL;
	uint64_t none = 0;
	int err = 0;

	for (size_t i = 0; i < codes->nsnapshots && !err; i++) {
		if (!map_get(&v->snapshots, codes->snapshots[i].number))
			continue;
		t = timeline_track_of(v, TIMELINE_NOBODY, TIMELINE_NOBODY);
		if (!t)
			return sink_file_no_memory(&v->file.sink);
		err = write_snapshot(v, t, &codes->snapshots[i]);
	}
	if (t && !err && !v->full)
		err = timeline_settle(v, t, v->format->name(v, t, "snapshots", "snapshots", NULL), &none);
	return err;
}
