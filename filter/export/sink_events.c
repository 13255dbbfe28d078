// SPDX-License-Identifier: MIT
/*
 * Columns: time in ns, pid, tid, event, file, qualname, first line, offset, destination; the opcode that ran, the
 * C function that is called, or what a marker of another kind names, if known; the generator's or coroutine's number,
 * likewise. Tabs, newlines, backslashes and what a terminal would interpret are escaped in names, so that cut, diff and
 * less work.
 */
#include "sink_events.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/objects.h"
#include "model/sink_file.h"
#include "shared/marker.h"

/* Room for the numbers, tabs and event name of one line. */
#define LINE_NUMBERS 256

static char *put_text(char *to, const char *s)
{
	size_t length = strlen(s);

	memcpy(to, s, length);
	return to + length;
}

/* What it is that ran, is called or named. Of any length, like everything read from a code table. */
static const char *what(const struct sample *s)
{
	if (s->op == OP_CALL && s->callee)
		return s->callee->qualname;
	if (s->op == OP_EXTENSION)
		return s->named ? s->named->qualname : "";
	return s->code && s->opcode ? process_opname(s->code->process, s->opcode) : "";
}

/* Of an event that begins, resumes, suspends or ends an activation of generator code. */
static const struct object *object_of(const struct sample *s)
{
	return s->op >= OP_PY_START && s->op <= OP_PY_THROW && s->code->generator ? s->generator : NULL;
}

static size_t names_length(const struct sample *s)
{
	const struct object *o = s->code ? object_of(s) : NULL;
	size_t place = s->code ? strlen(s->code->file) + strlen(s->code->qualname) : 0;
	char text[CALLED_TEXT];

	return place + strlen(what(s)) + (o ? strlen(called_text(&o->called, text)) : 0);
}

/* Of what the program says itself: what that is. */
static const char *said(const struct sample *s)
{
	static const char *const words[] = { [LABEL_INSTANT] = "instant ",
					     [LABEL_BEGIN] = "begin ",
					     [LABEL_END] = "end ",
					     [LABEL_COUNTER] = "counter " };
	uint64_t which = s->payload >> MARKER_LABEL_SHIFT & MARKER_LABEL_MASK;

	if (s->op != OP_EXTENSION || s->kind != KIND_LABEL || !s->named || which >= sizeof(words) / sizeof(*words))
		return "";
	return words[which];
}

/* The last three columns: each is empty where there is none. */
static char *put_rest(char *to, const struct sample *s, const struct object *o)
{
	char name[CALLED_TEXT];

	*to++ = '\t';
	to = put_text(to, said(s));
	to = text_escaped(to, what(s));
	*to++ = '\t';
	to = o ? out_int(to, (int64_t)o->serial) : to;
	*to++ = '\t';
	return o ? text_escaped(to, called_text(&o->called, name)) : to;
}

static char *put_place(char *to, const struct sample *s)
{
	to = text_escaped(to, s->code->file);
	*to++ = '\t';
	to = text_escaped(to, s->code->qualname);
	*to++ = '\t';
	to = out_int(to, s->code->firstlineno);
	*to++ = '\t';
	to = out_int(to, s->op == OP_LINE ? s->line : s->offset);
	*to++ = '\t';
	to = s->target == SAMPLE_NOWHERE ? to : out_int(to, s->target);
	return put_rest(to, s, object_of(s));
}

/*
 * Without a place: no file, qualname and line; the offset column counts the words. For a segment it is its number, and
 * the destination says which end this is; for an extension they are its kind and payload.
 */
static char *put_count(char *to, const struct sample *s)
{
	to = put_text(to, "\t\t\t");
	to = out_int(to, s->op == OP_SNAPSHOT ? s->number : s->op == OP_EXTENSION ? s->kind : s->count);
	*to++ = '\t';
	if (s->op == OP_EXTENSION)
		to = out_int(to, s->payload);
	else if (s->op == OP_SNAPSHOT)
		to = out_int(to, s->ends);
	return put_rest(to, s, NULL);
}

static int events_sample(struct sink *sink, const struct sample *s)
{
	struct out *out = &((struct sink_file *)sink)->out;
	char *to;

	if (s->op == SAMPLE_RESTART) /* not an event of the program */
		return 0;
	to = out_reserve(out, LINE_NUMBERS + TEXT_ESCAPED * names_length(s));
	if (!to)
		return sink_file_status(sink);
	to = out_int(to, s->time);
	*to++ = '\t';
	to = out_int(to, s->pid);
	*to++ = '\t';
	to = out_int(to, s->tid);
	*to++ = '\t';
	to = put_text(to, sample_op_name(s->op));
	*to++ = '\t';
	to = s->code ? put_place(to, s) : put_count(to, s);
	*to++ = '\n';
	out_commit(out, to);
	return sink_file_status(sink);
}

static int events_finish(struct sink *sink, const struct profile *p)
{
	(void)p;
	return sink_file_close(sink);
}

static const struct sink_ops events_ops = {
	.sample = events_sample,
	.no_loops = true,
	.finish = events_finish,
	.free = sink_file_free,
};

int sink_events_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_file_open(out, sizeof(struct sink_file), &events_ops, o, error);

	if (!err)
		out_put(&((struct sink_file *)*out)->out, EVENTS_TITLE "\n", sizeof(EVENTS_TITLE));
	return err;
}
