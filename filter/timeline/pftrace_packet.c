// SPDX-License-Identifier: MIT
/*
 * Events that are written later than they happened (a trip is known when it ends, a counter when its millisecond is
 * over) use the clock of the whole trace: engines sort, equal times by their place in the file.
 */
#include "pftrace_packet.h"

#include <string.h>

#include "base/proto.h"

int pftrace_no_memory(struct timeline *v)
{
	return sink_file_no_memory(&v->file.sink);
}

int pftrace_open_packet(struct timeline *v, const struct track *t, size_t more, struct pftrace_packet *p)
{
	int err;
	char *to = timeline_room(v, PFTRACE_ROOM + more, &err);

	*p = (struct pftrace_packet){ NULL, NULL };
	if (!to)
		return err;
	p->body = proto_open(to, TRACE_PACKET);
	p->to = proto_number(p->body, PACKET_SEQUENCE, t->number);
	return 0;
}

char *pftrace_put_name(char *to, unsigned field, uint64_t number, const char *text)
{
	char *body = proto_open(to, field);

	to = proto_number(body, INTERNED_IID, number);
	to = proto_string(to, INTERNED_TEXT, text, strlen(text));
	return proto_close(body, to);
}

void pftrace_put_text(struct pftrace_event *e, unsigned field, const char *text)
{
	e->packet.to = proto_string(e->packet.to, field, text, strlen(text));
}

void pftrace_put_text_arg(struct pftrace_event *e, unsigned key, const char *value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_number(body, ARG_KEY, key);

	e->packet.to = proto_close(body, proto_string(to, ARG_STRING, value, strlen(value)));
}

void pftrace_put_keyed_arg(struct pftrace_event *e, const char *key, uint64_t value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_string(body, ARG_KEY_TEXT, key, strlen(key));

	e->packet.to = proto_close(body, proto_number(to, ARG_INT, value));
}

static void put_text_arg(struct pftrace_event *e, unsigned field, const char *key, const char *value)
{
	char *body = proto_open(e->packet.to, EVENT_ARG);
	char *to = proto_string(body, ARG_KEY_TEXT, key, strlen(key));

	e->packet.to = proto_close(body, proto_string(to, field, value, strlen(value)));
}

void pftrace_put_string_arg(struct pftrace_event *e, const char *key, const char *value)
{
	put_text_arg(e, ARG_STRING, key, value);
}

void pftrace_put_json_arg(struct pftrace_event *e, const char *key, const char *value)
{
	put_text_arg(e, ARG_JSON, key, value);
}
