/* SPDX-License-Identifier: MIT */
/* pftrace_packet.h - one packet of a protobuf trace, and the track event that most of them hold. */
#pragma once

#include "pftrace_fields.h"
#include "pftrace_sequence.h"
#include "timeline.h"

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

int pftrace_close_packet(struct timeline *v, struct pftrace_packet *p); /* 0 */

char *pftrace_put_name(char *to, unsigned field, uint64_t number, const char *text);

/* An event of the track, whose sequence has begun, at `to`: room was reserved. */
void pftrace_put_event(struct pftrace_event *e, char *to, struct track *t, uint64_t ns, unsigned type);

int pftrace_close_event(struct timeline *v, struct pftrace_event *e); /* 0 */

void pftrace_put(struct pftrace_event *e, unsigned field, uint64_t n);
void pftrace_put_text(struct pftrace_event *e, unsigned field, const char *text);
void pftrace_put_arg(struct pftrace_event *e, unsigned key, uint64_t value);
void pftrace_put_text_arg(struct pftrace_event *e, unsigned key, const char *value);

/* With keys as text: for uncommon events. */
void pftrace_put_keyed_arg(struct pftrace_event *e, const char *key, uint64_t value);
void pftrace_put_string_arg(struct pftrace_event *e, const char *key, const char *value);
void pftrace_put_json_arg(struct pftrace_event *e, const char *key, const char *value);
