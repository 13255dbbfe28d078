// SPDX-License-Identifier: MIT
/*
 * A thread is a sequence of packets: it has a clock of its own that counts on from packet to packet, its
 * track is the default of its events, and names are told once and are numbers from then on. An
 * activation is some 40 bytes, and a tenth of that when compressed, which the format has a packet for.
 *
 * What is written later than it happened (a trip is known when it ends, a counter when its millisecond
 * is over) has its time by the clock of the whole trace: engines sort, equal times by their place in the
 * file.
 *
 * Packets do not ask for incremental state (sequence_flags 2): no packet of a file gets lost.
 */
#include "pftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.h"
#include "proto.h"
#include "text.h"

/* Numbers of one packet at most. */
#define PACKET_ROOM 256

/* The same of the end of a slice, of which many may be kept: three lengths, five numbers, two args. */
#define END_ROOM 80

/* Fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
};
enum { FLAG_STATE_CLEARED = 1 };
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_INCREMENTAL = 3 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, INTERNED_KEY = 3, INTERNED_IID = 1, INTERNED_TEXT = 2 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ARG = 4,
	EVENT_LEGACY = 6,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORY_TEXT = 22,
	EVENT_NAME_TEXT = 23,
	EVENT_COUNTER = 30,
};
enum { TYPE_LEGACY, TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { ARG_KEY = 1, ARG_INT = 4, ARG_STRING = 6, ARG_KEY_TEXT = 10 };
enum { LEGACY_PHASE = 2, LEGACY_ID = 6, LEGACY_ENCLOSING = 12 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

/* builtin_clock.proto: BOOTTIME is the clock of a trace; 64 and on are a sequence's own. */
enum { CLOCK_TRACE = 6, CLOCK_SEQUENCE = 64 };

/* A track's number on the wire: which kind of thing, and which one. */
enum uuid { UUID_PROCESS = 1, UUID_THREAD, UUID_COUNTERS };

static uint64_t uuid(enum uuid kind, uint64_t number)
{
	return (uint64_t)kind << 40 | number;
}

/* Names that every sequence is told at its beginning: those of INTERNED_KEY, and some of both others. */
static const char *const keys[] = { "calls", "cycles", "uOps", "Hardware Cycles", "trip" };
enum { KEY_CALLS = 1, KEY_CYCLES, KEY_UOPS, KEY_HARDWARE_CYCLES, KEY_TRIP };
static const char *const categories[] = { "loop", "code", "resume" };
static const char *const names[] = { "resume" };
enum { CATEGORY_LOOP = 1, CATEGORY_CODE, CATEGORY_RESUME, CATEGORIES };
enum { NAME_RESUME = 1 };

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A thread's sequence, begun. */
struct sequence {
	uint64_t clock;	 /* ns */
	uint64_t *known; /* a bit for each number that it was told */
	size_t words;
};

/* A code object or loop, numbered, with its texts as they are told. */
struct named {
	uint64_t number;
	char *name, *category; /* NULL: a fixed one */
};

struct pftrace {
	struct map names; /* struct code or struct loop -> struct named */
	struct map processes; /* pid + 1 -> itself: its track is described */
};

static int no_memory(struct timeline *v)
{
	return sink_file_no_memory(&v->file.sink);
}

/* A packet that is packets. */
static char *put_frame(char *to, size_t size)
{
	char head[2 * PROTO_VARINT];
	size_t length = proto_varint(proto_varint(head, PACKET_COMPRESSED << 3 | 2), size) - head;

	to = proto_varint(proto_varint(to, TRACE_PACKET << 3 | 2), length + size);
	return mempcpy(to, head, length);
}

static int pftrace_open(struct timeline *v)
{
	v->own = calloc(1, sizeof(struct pftrace));
	return v->own && !out_frames(&v->file.out, put_frame) ? 0 : no_memory(v);
}

/* --- packets ------------------------------------------------------------------------------------------ */

struct packet {
	char *body; /* of the packet */
	char *to;
};

/* A packet of the track's sequence, with room for `more` bytes of text. */
static int open_packet(struct timeline *v, const struct track *t, size_t more, struct packet *p)
{
	int err;
	char *to = timeline_room(v, PACKET_ROOM + more, &err);

	*p = (struct packet){ NULL, NULL };
	if (!to)
		return err;
	p->body = proto_open(to, TRACE_PACKET);
	p->to = proto_number(p->body, PACKET_SEQUENCE, t->number);
	return 0;
}

static int close_packet(struct timeline *v, struct packet *p)
{
	out_commit(&v->file.out, proto_close(p->body, p->to));
	return 0;
}

static char *put_clock(char *to, unsigned id, bool incremental)
{
	char *body = proto_open(to, SNAPSHOT_CLOCK);

	to = proto_number(body, CLOCK_ID, id);
	to = proto_number(to, CLOCK_TIMESTAMP, 0);
	if (incremental)
		to = proto_number(to, CLOCK_INCREMENTAL, true);
	return proto_close(body, to);
}

static char *put_name(char *to, unsigned field, uint64_t number, const char *text)
{
	char *body = proto_open(to, field);

	to = proto_number(body, INTERNED_IID, number);
	to = proto_string(to, INTERNED_TEXT, text, strlen(text));
	return proto_close(body, to);
}

static char *put_names(char *to, unsigned field, const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to = put_name(to, field, i + 1, texts[i]);
	return to;
}

static char *put_defaults(char *to, const struct track *t)
{
	char *body = proto_open(to, PACKET_DEFAULTS), *event;

	to = proto_number(body, DEFAULTS_CLOCK, CLOCK_SEQUENCE);
	event = proto_open(to, DEFAULTS_EVENT);
	to = proto_number(event, EVENT_TRACK, uuid(UUID_THREAD, t->number));
	return proto_close(body, proto_close(event, to));
}

/* The first packet of a sequence: its clock begins with the trace, at 0. */
static int write_first(struct timeline *v, struct track *t)
{
	struct packet p;
	int err = open_packet(v, t, PACKET_ROOM, &p);
	char *body;

	if (err)
		return err;
	p.to = put_defaults(proto_number(p.to, PACKET_FLAGS, FLAG_STATE_CLEARED), t);
	body = proto_open(p.to, PACKET_INTERNED);
	p.to = put_names(body, INTERNED_CATEGORY, categories, COUNT(categories));
	p.to = put_names(p.to, INTERNED_NAME, names, COUNT(names));
	p.to = proto_close(body, put_names(p.to, INTERNED_KEY, keys, COUNT(keys)));
	body = proto_open(p.to, PACKET_CLOCK_SNAPSHOT);
	p.to = put_clock(put_clock(body, CLOCK_TRACE, false), CLOCK_SEQUENCE, true);
	p.to = proto_close(body, p.to);
	return close_packet(v, &p);
}

static int32_t known(int32_t id)
{
	return id < 0 ? 0 : id;
}

static int write_process(struct timeline *v, const struct track *t, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	struct packet p;
	int err = open_packet(v, t, length, &p);
	char *track, *body;

	if (err)
		return err;
	track = proto_open(p.to, PACKET_TRACK);
	p.to = proto_number(track, TRACK_UUID, uuid(UUID_PROCESS, known(t->pid)));
	body = proto_open(p.to, TRACK_PROCESS);
	p.to = proto_number(body, PROCESS_PID, known(t->pid));
	if (name)
		p.to = proto_string(p.to, PROCESS_NAME, name, length);
	p.to = proto_close(track, proto_close(body, p.to));
	return close_packet(v, &p);
}

static int write_thread(struct timeline *v, const struct track *t, const char *name)
{
	size_t length = name ? strlen(name) : 0;
	struct packet p;
	int err = open_packet(v, t, length, &p);
	char *track, *body;

	if (err)
		return err;
	track = proto_open(p.to, PACKET_TRACK);
	p.to = proto_number(track, TRACK_UUID, uuid(UUID_THREAD, t->number));
	p.to = proto_number(p.to, TRACK_PARENT, uuid(UUID_PROCESS, known(t->pid)));
	body = proto_open(p.to, TRACK_THREAD);
	p.to = proto_number(body, THREAD_PID, known(t->pid));
	p.to = proto_number(p.to, THREAD_TID, known(t->tid));
	if (name)
		p.to = proto_string(p.to, THREAD_NAME, name, length);
	p.to = proto_close(track, proto_close(body, p.to));
	return close_packet(v, &p);
}

static uint64_t counter_uuid(const struct track *t, enum timeline_counter which)
{
	return uuid(UUID_COUNTERS, (uint64_t)t->number * TIMELINE_COUNTERS + which);
}

/* Counters belong to the process: so they do in the JSON, whose format has none of threads. */
static int write_counter(struct timeline *v, const struct track *t, enum timeline_counter which)
{
	const char *const *words = timeline_counters[which];
	char name[64];
	int length = snprintf(name, sizeof(name), "thread %d: %s %s", known(t->tid), words[0], words[1]);
	struct packet p;
	int err = open_packet(v, t, 0, &p);
	char *track;

	if (err)
		return err;
	track = proto_open(p.to, PACKET_TRACK);
	p.to = proto_number(track, TRACK_UUID, counter_uuid(t, which));
	p.to = proto_number(p.to, TRACK_PARENT, uuid(UUID_PROCESS, known(t->pid)));
	p.to = proto_string(p.to, TRACK_NAME, name, length);
	p.to = proto_string(p.to, TRACK_COUNTER, "", 0);
	p.to = proto_close(track, p.to);
	return close_packet(v, &p);
}

static int describe_process(struct timeline *v, const struct track *t)
{
	struct pftrace *w = v->own;
	uint64_t key = (uint64_t)known(t->pid) + 1;

	if (map_get(&w->processes, key))
		return 0;
	return map_put(&w->processes, key, w) ? no_memory(v) : write_process(v, t, NULL);
}

/* The track's sequence, begun with its first event. */
static int begin_sequence(struct timeline *v, struct track *t)
{
	int err;

	if (t->sequence)
		return 0;
	t->sequence = calloc(1, sizeof(struct sequence));
	err = t->sequence ? write_first(v, t) : no_memory(v);
	if (!err)
		err = describe_process(v, t);
	if (!err)
		err = write_thread(v, t, NULL);
	for (unsigned i = 0; i < TIMELINE_COUNTERS && !err; i++)
		err = write_counter(v, t, i);
	if (err) { /* as if it had never begun: the mark of a full file may come on this track */
		free(t->sequence);
		t->sequence = NULL;
	}
	return err;
}

/* --- names -------------------------------------------------------------------------------------------- */

static struct named *make_named(struct pftrace *w, const void *of, char *name, char *category,
				bool has_category)
{
	struct named *n = calloc(1, sizeof(*n));

	if (n && name && (category || !has_category)) {
		*n = (struct named){ w->names.used + CATEGORIES, name, category };
		if (!map_put(&w->names, (uintptr_t)of, n))
			return n;
	}
	free(n);
	free(name);
	free(category);
	return NULL;
}

static struct named *named_code(struct timeline *v, const struct code *code)
{
	struct pftrace *w = v->own;
	struct named *n = map_get(&w->names, (uintptr_t)code);
	char *place, *category;

	if (n)
		return n;
	place = perfetto_place(code);
	category = place ? text_utf8(place) : NULL;
	free(place);
	return make_named(w, code, text_utf8(code->qualname), category, true);
}

static struct named *named_loop(struct timeline *v, const struct loop *loop)
{
	struct pftrace *w = v->own;
	struct named *n = map_get(&w->names, (uintptr_t)loop);
	char *text, *name;

	if (n)
		return n;
	text = perfetto_loop(loop);
	name = text ? text_utf8(text) : NULL;
	free(text);
	return make_named(w, loop, name, NULL, false);
}

/* The bit of `number`, in words that are there; NULL: no memory. */
static uint64_t *word_of(struct sequence *s, uint64_t number)
{
	size_t words = number / 64 + 1;
	uint64_t *more;

	if (words > s->words) {
		words *= 2;
		more = realloc(s->known, words * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->words, 0, (words - s->words) * sizeof(*more));
		s->known = more;
		s->words = words;
	}
	return &s->known[number / 64];
}

static int write_names(struct timeline *v, const struct track *t, const struct named *n)
{
	size_t lengths = strlen(n->name) + (n->category ? strlen(n->category) : 0);
	struct packet p;
	int err = open_packet(v, t, lengths, &p);
	char *body;

	if (err)
		return err;
	body = proto_open(p.to, PACKET_INTERNED);
	p.to = put_name(body, INTERNED_NAME, n->number, n->name);
	if (n->category)
		p.to = put_name(p.to, INTERNED_CATEGORY, n->number, n->category);
	p.to = proto_close(body, p.to);
	return close_packet(v, &p);
}

/* Tells the sequence what the number means, once. */
static int introduce(struct timeline *v, struct track *t, const struct named *n)
{
	int err = n ? begin_sequence(v, t) : no_memory(v);
	uint64_t *word, bit;

	if (err)
		return err;
	word = word_of(t->sequence, n->number);
	if (!word)
		return no_memory(v);
	bit = 1ull << n->number % 64;
	if (*word & bit)
		return 0;
	err = write_names(v, t, n);
	if (!err)
		*word |= bit;
	return err;
}

/* --- events ------------------------------------------------------------------------------------------- */

struct event {
	struct packet packet;
	char *body; /* of the track event; its end is packet.to */
};

/* The room was asked for. */
static void put_event(struct event *e, char *to, struct track *t, uint64_t ns, unsigned type)
{
	struct sequence *s = t->sequence;

	e->packet.body = proto_open(to, TRACE_PACKET);
	if (ns >= s->clock) {
		to = proto_number(e->packet.body, PACKET_TIMESTAMP, ns - s->clock);
		s->clock = ns;
	} else {
		to = proto_number(e->packet.body, PACKET_TIMESTAMP, ns);
		to = proto_number(to, PACKET_CLOCK, CLOCK_TRACE);
	}
	to = proto_number(to, PACKET_SEQUENCE, t->number);
	e->body = proto_open(to, PACKET_TRACK_EVENT);
	e->packet.to = type == TYPE_LEGACY ? e->body : proto_number(e->body, EVENT_TYPE, type);
}

static int open_event(struct timeline *v, struct track *t, uint64_t ns, unsigned type, size_t more,
		      struct event *e)
{
	int err = begin_sequence(v, t);
	char *to = err ? NULL : timeline_room(v, PACKET_ROOM + more, &err);

	*e = (struct event){ { NULL, NULL }, NULL };
	if (to)
		put_event(e, to, t, ns, type);
	return err;
}

static int close_event(struct timeline *v, struct event *e)
{
	e->packet.to = proto_close(e->body, e->packet.to);
	return close_packet(v, &e->packet);
}

static void put(struct event *e, unsigned field, uint64_t n)
{
	e->packet.to = proto_number(e->packet.to, field, n);
}

static void put_text(struct event *e, unsigned field, const char *text)
{
	e->packet.to = proto_string(e->packet.to, field, text, strlen(text));
}

static void put_arg(struct event *e, unsigned key, uint64_t value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_number(body, ARG_KEY, key);

	e->packet.to = proto_close(body, proto_number(to, ARG_INT, value));
}

/* With its key in words: for what is rare. */
static void put_rare_arg(struct event *e, const char *key, uint64_t value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_string(body, ARG_KEY_TEXT, key, strlen(key));

	e->packet.to = proto_close(body, proto_number(to, ARG_INT, value));
}

static int pftrace_begin(struct timeline *v, struct track *t, struct span *span)
{
	const struct named *n = named_code(v, span->code);
	struct event e;
	int err = introduce(v, t, n);

	if (err)
		return err;
	span->reserved = END_ROOM;
	v->reserved += span->reserved;
	err = open_event(v, t, span->shown, TYPE_BEGIN, 0, &e);
	v->reserved -= span->reserved;
	if (err)
		return err;
	put(&e, EVENT_CATEGORY, n->number);
	put(&e, EVENT_NAME, n->number);
	return close_event(v, &e);
}

/* Its room was kept: it is not asked whether the file is full. */
static int pftrace_end(struct timeline *v, struct track *t, const struct span *span, uint64_t ns,
		       uint64_t cycles)
{
	char *to = out_reserve(&v->file.out, END_ROOM);
	struct event e;

	if (!to)
		return no_memory(v);
	put_event(&e, to, t, ns, TYPE_END);
	if (span->calls)
		put_arg(&e, KEY_CALLS, span->calls);
	put_arg(&e, KEY_CYCLES, cycles);
	return close_event(v, &e);
}

static void put_string_arg(struct event *e, const char *key, const char *value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_string(body, ARG_KEY_TEXT, key, strlen(key));

	e->packet.to = proto_close(body, proto_string(to, ARG_STRING, value, strlen(value)));
}

static int pftrace_code(struct timeline *v, struct track *t, uint64_t ns, const struct code *code)
{
	const struct named *n = named_code(v, code);
	char *file = text_utf8(code->file), address[32];
	struct event e;
	int err = file ? introduce(v, t, n) : no_memory(v);

	if (!err)
		err = open_event(v, t, ns, TYPE_INSTANT, strlen(file), &e);
	if (!err) {
		put(&e, EVENT_TRACK, uuid(UUID_PROCESS, known(t->pid)));
		put(&e, EVENT_CATEGORY, CATEGORY_CODE);
		put(&e, EVENT_NAME, n->number);
		snprintf(address, sizeof(address), "0x%" PRIx64, code->address);
		if (code->address)
			put_string_arg(&e, "code_ptr", address);
		put_string_arg(&e, "file", file);
		put_rare_arg(&e, "line", code->firstlineno);
		err = close_event(v, &e);
	}
	free(file);
	return err;
}

static int begin_trip(struct timeline *v, struct track *t, uint64_t ns, unsigned type,
		      const struct named *n, struct event *e)
{
	int err = open_event(v, t, ns, type, 0, e);

	if (err)
		return err;
	put(e, EVENT_CATEGORY, CATEGORY_LOOP);
	put(e, EVENT_NAME, n->number);
	return 0;
}

static void put_trip_args(struct event *e, const struct trip *trip)
{
	if (trip->uops) /* 0: the bytecode is not known */
		put_arg(e, KEY_UOPS, trip->uops);
	put_arg(e, KEY_HARDWARE_CYCLES, trip->cycles);
	put_arg(e, KEY_TRIP, trip->number);
}

static int pftrace_trip(struct timeline *v, struct track *t, const struct trip *trip, uint64_t from,
			uint64_t ns)
{
	const struct named *n = named_loop(v, trip->loop);
	bool slice = v->iterations == ITERATIONS_SLICES;
	struct event e;
	int err = introduce(v, t, n);

	if (err)
		return err;
	v->reserved += slice ? PACKET_ROOM : 0;
	err = begin_trip(v, t, from, slice ? TYPE_BEGIN : TYPE_INSTANT, n, &e);
	v->reserved -= slice ? PACKET_ROOM : 0;
	if (err)
		return err;
	put_trip_args(&e, trip);
	err = close_event(v, &e);
	if (err || !slice)
		return err;
	err = open_event(v, t, ns, TYPE_END, 0, &e);
	return err ? err : close_event(v, &e);
}

static int pftrace_mark(struct timeline *v, struct track *t, uint64_t ns, const struct mark *mark)
{
	struct event e;
	int err = open_event(v, t, ns, TYPE_INSTANT, PACKET_ROOM, &e);

	if (err)
		return err;
	put_text(&e, EVENT_CATEGORY_TEXT, mark->category);
	put_text(&e, EVENT_NAME_TEXT, mark->name);
	for (unsigned i = 0; i < mark->n; i++)
		put_rare_arg(&e, mark->args[i].key, mark->args[i].value);
	return close_event(v, &e);
}

/* As events of the older kind: those of today can only leave a slice as it begins. */
static int write_flow(struct timeline *v, char phase, struct track *t, const struct track *on,
		      uint64_t ns)
{
	struct event e;
	char *legacy;
	int err = open_event(v, t, ns, TYPE_LEGACY, 0, &e);

	if (err)
		return err;
	put(&e, EVENT_CATEGORY, CATEGORY_RESUME);
	put(&e, EVENT_NAME, NAME_RESUME);
	if (on != t)
		put(&e, EVENT_TRACK, uuid(UUID_THREAD, on->number));
	legacy = proto_open(e.packet.to, EVENT_LEGACY);
	e.packet.to = proto_number(legacy, LEGACY_PHASE, phase);
	e.packet.to = proto_number(e.packet.to, LEGACY_ID, v->flows);
	if (phase == 'f')
		e.packet.to = proto_number(e.packet.to, LEGACY_ENCLOSING, true);
	e.packet.to = proto_close(legacy, e.packet.to);
	return close_event(v, &e);
}

static int pftrace_flow(struct timeline *v, struct track *t, const struct span *span)
{
	int err;

	v->reserved += PACKET_ROOM;
	err = write_flow(v, 's', t, span->from, span->from_shown);
	v->reserved -= PACKET_ROOM;
	return err ? err : write_flow(v, 'f', t, t, span->shown);
}

static int pftrace_counter(struct timeline *v, struct track *t, enum timeline_counter which,
			   uint64_t ns, uint64_t value)
{
	struct event e;
	int err = open_event(v, t, ns, TYPE_COUNTER, 0, &e);

	if (err)
		return err;
	put(&e, EVENT_TRACK, counter_uuid(t, which));
	put(&e, EVENT_COUNTER, value);
	return close_event(v, &e);
}

static int pftrace_name(struct timeline *v, struct track *t, const char *thread, const char *process)
{
	char *text = text_utf8(thread ? thread : "");
	int err = text ? begin_sequence(v, t) : no_memory(v);

	if (!err && thread)
		err = write_thread(v, t, text);
	free(text);
	text = !err && process ? text_utf8(process) : NULL;
	if (!err && process)
		err = text ? write_process(v, t, text) : no_memory(v);
	free(text);
	return err;
}

/* A trace is its packets: nothing closes it. */
static int pftrace_finish(struct timeline *v)
{
	(void)v;
	return 0;
}

static void pftrace_free(struct timeline *v)
{
	struct pftrace *w = v->own;

	for (struct map_slot *s = NULL; (s = map_next(&v->tracks, s));) {
		struct sequence *q = ((struct track *)s->value)->sequence;

		free(q ? q->known : NULL);
	}
	for (struct map_slot *s = NULL; w && (s = map_next(&w->names, s));) {
		struct named *n = s->value;

		free(n->name);
		free(n->category);
		free(n);
	}
	if (w) {
		map_free(&w->names);
		map_free(&w->processes);
	}
	free(w);
}

const struct timeline_format pftrace_format = {
	.open = pftrace_open,
	.begin = pftrace_begin,
	.end = pftrace_end,
	.code = pftrace_code,
	.trip = pftrace_trip,
	.mark = pftrace_mark,
	.flow = pftrace_flow,
	.counter = pftrace_counter,
	.name = pftrace_name,
	.finish = pftrace_finish,
	.free = pftrace_free,
};
