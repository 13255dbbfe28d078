/* SPDX-License-Identifier: MIT */
/* pftrace_tracks.h - the descriptions of threads, processes and counters in a protobuf trace. */
#pragma once

#include "pftrace_names.h"
#include "pftrace_packet.h"

/* A timeline's data for this format. */
struct pftrace {
	struct pftrace_names names;
	struct map processes; /* pid + 1 -> itself: its track is described */
	struct map values;    /* the same of counters of the program's own, by their tracks' numbers */
};

/* The track's sequence, begun with its first event. All three: 0, TIMELINE_FULL or an error, its text set. */
int pftrace_begin_sequence(struct timeline *v, struct track *t);

/* Names are UTF-8, or NULL. A label is shown beside a name. */
int pftrace_write_process(struct timeline *v, const struct track *t, const char *name, const char *label);
int pftrace_write_thread(struct timeline *v, const struct track *t, const char *name);

/* The track of a process's counter of that name, described when it is new: *uuid. 0, TIMELINE_FULL or an error. */
int pftrace_value_track(struct timeline *v, const struct track *t, const char *name, uint64_t *uuid);

static inline uint64_t pftrace_counter_uuid(const struct track *t, enum timeline_counter which)
{
	return pftrace_uuid(UUID_COUNTERS, (uint64_t)t->number * TIMELINE_COUNTERS + which);
}
