/* SPDX-License-Identifier: MIT */
/* pftrace_packet.h - one packet of a protobuf trace, and the track event that most of them hold. */
#pragma once

#include "pftrace_fields.h"
#include "pftrace_sequence.h"
#include "timeline.h"
#include "base/proto.h"

/* Numbers of one packet at most. */
#define PFTRACE_ROOM 256

struct pftrace_packet {
	char *body; /* of the packet */
	char *to;
};

struct pftrace_event {
	struct pftrace_packet packet;
	char *body; /* of the track event; its end is packet.to */
};

/* -ENOMEM, its text set. */
int pftrace_no_memory(struct timeline *v);

/* Of the track's sequence, with room for `more` bytes of text. 0, TIMELINE_FULL or an error, its text set. */
int pftrace_open_packet(struct timeline *v, const struct track *t, size_t more, struct pftrace_packet *p);

static inline int pftrace_close_packet(struct timeline *v, struct pftrace_packet *p)
{
	out_commit(&v->file.out, proto_close(p->body, p->to));
	return 0;
}

char *pftrace_put_name(char *to, unsigned field, uint64_t number, const char *text);

/* A field of a packet of the sequence: whose it is. */
static inline char *pftrace_put_whose(char *to, const struct pftrace_sequence *s)
{
	memcpy(to, s->id, sizeof(s->id)); /* all of it: that takes no loop */
	return to + s->id_length;
}

/* And when it is. Packets are written in the order in which this is called. */
static inline char *pftrace_put_time(char *to, struct pftrace_sequence *s, uint64_t ns)
{
	if (ns >= s->clock) {
		to = proto_small(to, PACKET_TIMESTAMP, ns - s->clock);
		s->clock = ns;
		return to;
	}
	to = proto_number(to, PACKET_TIMESTAMP, ns);
	return proto_number(to, PACKET_CLOCK, CLOCK_TRACE);
}

/* An event of the track, whose sequence has begun, at `to`: room was reserved. */
static inline void pftrace_put_event(struct pftrace_event *e, char *to, struct track *t, uint64_t ns, unsigned type)
{
	e->packet.body = proto_open(to, TRACE_PACKET);
	to = pftrace_put_time(e->packet.body, t->sequence, ns);
	to = pftrace_put_whose(to, t->sequence);
	e->body = proto_open(to, PACKET_TRACK_EVENT);
	e->packet.to = type == TYPE_LEGACY ? e->body : proto_number(e->body, EVENT_TYPE, type);
}

/*
 * The same of a frequent event, whose time is written last: what comes before it is then as in other packets, and so is
 * the beginning of the packet behind it, which is one match when they are compressed.
 */
static inline void pftrace_put_short(struct pftrace_event *e, char *to, const struct track *t, unsigned type)
{
	e->packet.body = proto_open(to, TRACE_PACKET);
	to = pftrace_put_whose(e->packet.body, t->sequence);
	e->body = proto_open(to, PACKET_TRACK_EVENT);
	e->packet.to = proto_number(e->body, EVENT_TYPE, type);
}

/* The end of its packet, which has less than 128 bytes. */
static inline char *pftrace_close_short(struct pftrace_event *e, const struct track *t, uint64_t ns)
{
	char *to = proto_close_short(e->body, e->packet.to);

	return proto_close_short(e->packet.body, pftrace_put_time(to, t->sequence, ns));
}

static inline int pftrace_close_event(struct timeline *v, struct pftrace_event *e)
{
	e->packet.to = proto_close(e->body, e->packet.to);
	return pftrace_close_packet(v, &e->packet);
}

static inline void pftrace_put(struct pftrace_event *e, unsigned field, uint64_t n)
{
	e->packet.to = proto_number(e->packet.to, field, n);
}

static inline void pftrace_put_arg(struct pftrace_event *e, unsigned key, uint64_t value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_number(body, ARG_KEY, key);

	e->packet.to = proto_close_short(body, proto_number(to, ARG_INT, value));
}

/* The same of numbers that differ. */
static inline void pftrace_put_cycles(struct pftrace_event *e, unsigned key, uint64_t value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_number(body, ARG_KEY, key);

	e->packet.to = proto_close_short(body, proto_small(to, ARG_INT, value));
}

void pftrace_put_text(struct pftrace_event *e, unsigned field, const char *text);
void pftrace_put_text_arg(struct pftrace_event *e, unsigned key, const char *value);

/* With keys as text: for uncommon events. */
void pftrace_put_keyed_arg(struct pftrace_event *e, const char *key, uint64_t value);
void pftrace_put_string_arg(struct pftrace_event *e, const char *key, const char *value);
void pftrace_put_json_arg(struct pftrace_event *e, const char *key, const char *value);
