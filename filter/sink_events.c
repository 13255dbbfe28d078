// SPDX-License-Identifier: MIT
/*
 * Columns: time in ns, pid, tid, event, file, qualname, first line, offset, destination. Tabs,
 * newlines and backslashes in names are escaped, so that cut and diff can be trusted.
 */
#include "sink_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

struct events {
	struct sink sink;
	struct out out;
};

/* Room for the numbers, tabs and event name of one line. */
#define LINE_NUMBERS 256

static char *put_int(char *to, int64_t n)
{
	if (n < 0)
		*to++ = '-';
	return out_dec(to, n < 0 ? -(uint64_t)n : (uint64_t)n);
}

static char *put_text(char *to, const char *s)
{
	size_t length = strlen(s);

	memcpy(to, s, length);
	return to + length;
}

static char *put_escaped(char *to, const char *s)
{
	for (; *s; s++) {
		char escape = *s == '\t' ? 't' : *s == '\n' ? 'n' : *s == '\r' ? 'r' : *s == '\\' ? '\\' : 0;

		if (escape)
			*to++ = '\\';
		*to++ = escape ? escape : *s;
	}
	return to;
}

static char *put_place(char *to, const struct sample *s)
{
	to = put_escaped(to, s->code->file);
	*to++ = '\t';
	to = put_escaped(to, s->code->qualname);
	*to++ = '\t';
	to = put_int(to, s->code->firstlineno);
	*to++ = '\t';
	to = put_int(to, s->offset);
	*to++ = '\t';
	return s->target == SAMPLE_NOWHERE ? to : put_int(to, s->target);
}

/* Without a place: no file, qualname and line; the offset column counts the words. */
static char *put_count(char *to, const struct sample *s)
{
	to = put_text(to, "\t\t\t");
	to = put_int(to, s->count);
	*to++ = '\t';
	return to;
}

static int events_sample(struct sink *sink, const struct sample *s)
{
	struct events *e = (struct events *)sink;
	size_t names = s->code ? strlen(s->code->file) + strlen(s->code->qualname) : 0;
	char *to;

	if (s->op == SAMPLE_RESTART) /* not an event of the program */
		return 0;
	to = out_reserve(&e->out, LINE_NUMBERS + 2 * names);
	if (!to)
		return out_tell(&e->out, sink->error, SINK_ERROR);
	to = put_int(to, s->time);
	*to++ = '\t';
	to = put_int(to, s->pid);
	*to++ = '\t';
	to = put_int(to, s->tid);
	*to++ = '\t';
	to = put_text(to, sample_op_name(s->op));
	*to++ = '\t';
	to = s->code ? put_place(to, s) : put_count(to, s);
	*to++ = '\n';
	out_commit(&e->out, to);
	return e->out.err ? out_tell(&e->out, sink->error, SINK_ERROR) : 0;
}

static int events_finish(struct sink *sink, const struct profile *p)
{
	struct events *e = (struct events *)sink;

	(void)p;
	return out_close(&e->out, sink->error, SINK_ERROR);
}

static void events_free(struct sink *sink)
{
	struct events *e = (struct events *)sink;

	out_discard(&e->out);
	free(e);
}

static const struct sink_ops events_ops = {
	.sample = events_sample,
	.finish = events_finish,
	.free = events_free,
};

int sink_events_open(struct sink **out, const struct sink_options *o, char *error)
{
	struct events *e = calloc(1, sizeof(*e));
	int err = e ? out_open(&e->out, o->path, error, SINK_ERROR) : -ENOMEM;

	if (err) {
		free(e);
		return err;
	}
	e->sink.ops = &events_ops;
	out_put(&e->out, EVENTS_TITLE "\n", sizeof(EVENTS_TITLE));
	*out = &e->sink;
	return 0;
}
