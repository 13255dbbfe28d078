// SPDX-License-Identifier: MIT
/*
 * Marks and labels: where something is missing, an exception's journey, and what the program itself put there. Their
 * names are the program's: what a viewer's JSON may not have is taken out once, here, for both formats.
 */
#include "timeline_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "model/exceptions.h"
#include "model/label_data.h"

int timeline_gap(struct sink *s, const struct sample *gap)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_track_of(v, gap->pid, gap->tid);
	const char *name = gap->op == SAMPLE_GAP ? "GAP: events lost" : "UNMATCHED: ends not seen";
	struct mark mark = { .category = "loss", .name = name, .n = 1, .args = { { "count", gap->count } } };

	return t ? timeline_write_mark(v, t, gap->time, &mark) : sink_file_no_memory(s);
}

void timeline_plain(char to[MARK_NAME], const char *verb, const char *name)
{
	size_t n = snprintf(to, MARK_NAME, "%s%s", verb, name);

	for (char *c = to; *c; c++)
		if (*c == '"')
			*c = '\'';
		else if (*c == '\\' || (unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (n >= MARK_NAME) /* no half of a character */
		for (char *c = to + MARK_NAME - 2; c > to && (*c & 0x80); *c-- = 0)
			if ((*c & 0xc0) == 0xc0) {
				*c = 0;
				break;
			}
}

int timeline_exception(struct sink *s, const struct exception_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_activation_track(v, m->in);
	char name[MARK_NAME];
	struct mark mark = { .category = "exception",
			     .name = name,
			     .n = 1 + m->handled,
			     .args = { { "line", m->line }, { "frames", m->frames } } };

	timeline_plain(name, m->handled ? "caught " : "raised ", m->of->type ? m->of->type->qualname : "an exception");
	return t ? timeline_write_mark(v, t, m->time_ns, &mark) : sink_file_no_memory(s);
}

/* --- labels of the program's own ----------------------------------------------------------------------------- */

int timeline_mark_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	char name[MARK_NAME], data[MARK_NAME], *text = m->data ? label_data_text(m->data) : NULL;
	struct mark mark = { .category = "label", .name = name, .text = text ? data : NULL };

	if (m->data && !text)
		return sink_file_no_memory(&v->file.sink);
	timeline_plain(name, "", m->name->qualname);
	if (text)
		timeline_plain(data, "", text);
	free(text);
	return timeline_write_mark(v, t, m->ns, &mark);
}

static int begin_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	const struct activation a = { .pid = m->pid,
				      .tid = m->tid,
				      .greenlet = m->greenlet,
				      .depth = 1, /* in one of the program's */
				      .code = (struct code *)m->name,
				      .op = OP_PY_START,
				      .start_ns = m->ns,
				      .start_cycles = m->cycles };
	int err = timeline_enter(&v->file.sink, &a);

	return err || !m->data ? err : timeline_mark_label(v, t, m);
}

static int count_label(struct timeline *v, struct track *t, const struct label_mark *m)
{
	char name[MARK_NAME];

	timeline_plain(name, "", m->name->qualname);
	return WRITE(v, t, v->beyond.others, value, track_at(t, timeline_since_start(v, m->ns)), name, m->value);
}

int timeline_label(struct sink *s, const struct label_mark *m)
{
	struct timeline *v = (struct timeline *)s;
	struct track *t = timeline_greenlet_track(v, m->pid, m->tid, m->greenlet);
	struct span *span;

	if (!t)
		return sink_file_no_memory(s);
	switch (m->what) {
	case LABEL_BEGIN:
		return begin_label(v, t, m);
	case LABEL_END:
		span = track_find(t, m->name);
		return span ? timeline_leave_span(v, t, span, NULL, LEAVE_RETURN, m->ns, m->cycles) : 0;
	case LABEL_COUNTER:
		return count_label(v, t, m);
	case LABEL_INSTANT:
		break;
	}
	return timeline_mark_label(v, t, m);
}
