// SPDX-License-Identifier: MIT
/* A track is described when its thread's sequence begins, and again when a name becomes known. */
#include "pftrace_tracks.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/proto.h"
#include "perfetto.h"

static const char *const keys[] = { "calls", "cycles", "uOps", "trip", "code_ptr", "cpu_ns", "waiting_ns" };
static const char *const categories[] = { "loop", "code", "resume" };
static const char *const names[] = { "resume" };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static char *put_clock(char *to, unsigned id, bool incremental)
{
	char *body = proto_open(to, SNAPSHOT_CLOCK);

	to = proto_number(body, CLOCK_ID, id);
	to = proto_number(to, CLOCK_TIMESTAMP, 0);
	if (incremental)
		to = proto_number(to, CLOCK_INCREMENTAL, true);
	return proto_close(body, to);
}

static char *put_names(char *to, unsigned field, unsigned first, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to = pftrace_put_name(to, field, first + i, texts[i]);
	return to;
}

static char *put_defaults(char *to, const struct track *t)
{
	char *body = proto_open(to, PACKET_DEFAULTS), *event;

	to = proto_number(body, DEFAULTS_CLOCK, CLOCK_SEQUENCE);
	event = proto_open(to, DEFAULTS_EVENT);
	to = proto_number(event, EVENT_TRACK, pftrace_uuid(UUID_THREAD, t->number));
	return proto_close(body, proto_close(event, to));
}

/* The first packet of a sequence: its clock begins with the trace, at 0. */
static int write_first(struct timeline *v, struct track *t)
{
	struct pftrace_packet p;
	int err = pftrace_open_packet(v, t, 2 * PFTRACE_ROOM, &p);
	char *body;

	if (err)
		return err;
	p.to = put_defaults(proto_number(p.to, PACKET_FLAGS, FLAG_STATE_CLEARED), t);
	body = proto_open(p.to, PACKET_INTERNED);
	p.to = put_names(body, INTERNED_CATEGORY, 1, categories, COUNT(categories));
	p.to = put_names(p.to, INTERNED_NAME, 1, names, COUNT(names));
	p.to = put_names(p.to, INTERNED_KEY, 1, keys, COUNT(keys));
	p.to = proto_close(body, put_names(p.to, INTERNED_KEY, KEY_TRIP_CYCLES, perfetto_cycles, PERFETTO_CYCLES));
	body = proto_open(p.to, PACKET_CLOCK_SNAPSHOT);
	p.to = put_clock(put_clock(body, CLOCK_TRACE, false), CLOCK_SEQUENCE, true);
	p.to = proto_close(body, p.to);
	return pftrace_close_packet(v, &p);
}

/* A packet whose TrackDescriptor is open. */
struct description {
	struct pftrace_packet p;
	char *track;
};

static int open_description(struct timeline *v, const struct track *t, size_t room, uint64_t uuid,
			    struct description *d)
{
	int err = pftrace_open_packet(v, t, room, &d->p);

	if (err)
		return err;
	d->track = proto_open(d->p.to, PACKET_TRACK);
	d->p.to = proto_number(d->track, TRACK_UUID, uuid);
	return 0;
}

static int close_description(struct timeline *v, struct description *d)
{
	d->p.to = proto_close(d->track, d->p.to);
	return pftrace_close_packet(v, &d->p);
}

static char *put_parent(char *to, const struct track *t)
{
	return proto_number(to, TRACK_PARENT, pftrace_uuid(UUID_PROCESS, pftrace_known(t->pid)));
}

static char *put_name(char *to, unsigned field, const char *name)
{
	return name ? proto_string(to, field, name, strlen(name)) : to;
}

int pftrace_write_process(struct timeline *v, const struct track *t, const char *name, const char *label)
{
	uint64_t uuid = pftrace_uuid(UUID_PROCESS, pftrace_known(t->pid));
	struct description d;
	int err = open_description(v, t, (name ? strlen(name) : 0) + (label ? strlen(label) : 0), uuid, &d);
	char *body;

	if (err)
		return err;
	body = proto_open(d.p.to, TRACK_PROCESS);
	d.p.to = proto_number(body, PROCESS_PID, pftrace_known(t->pid));
	d.p.to = put_name(d.p.to, PROCESS_NAME, name);
	d.p.to = proto_close(body, put_name(d.p.to, PROCESS_LABELS, label));
	return close_description(v, &d);
}

int pftrace_write_thread(struct timeline *v, const struct track *t, const char *name)
{
	struct description d;
	int err = open_description(v, t, name ? strlen(name) : 0, pftrace_uuid(UUID_THREAD, t->number), &d);
	char *body;

	if (err)
		return err;
	body = proto_open(put_parent(d.p.to, t), TRACK_THREAD);
	d.p.to = proto_number(body, THREAD_PID, pftrace_known(t->pid));
	d.p.to = proto_number(d.p.to, THREAD_TID, pftrace_known(t->tid));
	d.p.to = proto_close(body, put_name(d.p.to, THREAD_NAME, name));
	return close_description(v, &d);
}

static int write_counter_track(struct timeline *v, const struct track *t, uint64_t uuid, const char *name)
{
	struct description d;
	int err = open_description(v, t, strlen(name), uuid, &d);

	if (err)
		return err;
	d.p.to = put_name(put_parent(d.p.to, t), TRACK_NAME, name);
	d.p.to = proto_string(d.p.to, TRACK_COUNTER, "", 0);
	return close_description(v, &d);
}

/* Counters belong to the process, as in the JSON, whose format has none for threads. */
static int write_counter(struct timeline *v, const struct track *t, enum timeline_counter which)
{
	const char *const *words = timeline_counters[which];
	char name[64];

	snprintf(name, sizeof(name), "thread %d: %s %s", pftrace_known(t->tid), words[0], words[1]);
	return write_counter_track(v, t, pftrace_counter_uuid(t, which), name);
}

/* 40 bits, as pftrace_uuid() has room for. */
static uint64_t value_number(int32_t pid, const char *name)
{
	uint64_t hash = hash_text(HASH_START ^ (uint32_t)pid, name);

	return (hash >> 40 ^ hash) & 0xffffffffff;
}

int pftrace_value_track(struct timeline *v, const struct track *t, const char *name, uint64_t *uuid)
{
	struct pftrace *w = v->own;
	uint64_t number = value_number(pftrace_known(t->pid), name);

	*uuid = pftrace_uuid(UUID_VALUES, number);
	if (map_get(&w->values, number))
		return 0;
	return map_put(&w->values, number, w) ? pftrace_no_memory(v) : write_counter_track(v, t, *uuid, name);
}

/* What is told of a process as a whole: viewers would call its own track by the whole command line. */
static int write_codes_track(struct timeline *v, const struct track *t)
{
	static const char name[] = "code objects, when first seen";
	struct description d;
	int err = open_description(v, t, sizeof(name), pftrace_uuid(UUID_CODES, pftrace_known(t->pid)), &d);

	if (err)
		return err;
	d.p.to = put_name(put_parent(d.p.to, t), TRACK_NAME, name);
	return close_description(v, &d);
}

static int describe_process(struct timeline *v, const struct track *t)
{
	struct pftrace *w = v->own;
	uint64_t key = (uint64_t)pftrace_known(t->pid) + 1;

	if (map_get(&w->processes, key))
		return 0;
	if (map_put(&w->processes, key, w))
		return pftrace_no_memory(v);
	return pftrace_write_process(v, t, NULL, NULL) ?: write_codes_track(v, t);
}

int pftrace_begin_sequence(struct timeline *v, struct track *t)
{
	int err;

	if (t->sequence)
		return 0;
	t->sequence = pftrace_sequence_new(t->number);
	err = t->sequence ? write_first(v, t) : pftrace_no_memory(v);
	err = err ?: describe_process(v, t);
	err = err ?: pftrace_write_thread(v, t, NULL);
	for (unsigned i = 0; i < TIMELINE_COUNTERS && !err && !*t->title && t->pid != TIMELINE_NOBODY; i++)
		err = write_counter(v, t, i);
	if (err) { /* as if it had never begun: the mark of a full file may come on this track */
		pftrace_sequence_free(t->sequence);
		t->sequence = NULL;
	}
	return err;
}
