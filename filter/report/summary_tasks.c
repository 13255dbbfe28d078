// SPDX-License-Identifier: MIT
/* Tasks and requests. value_pack() returns NULL if a part is NULL, so memory is checked once. */
#include "summary_objects.h"

#include "base/value.h"

static struct value *called_or_null(const struct called *c)
{
	char text[CALLED_TEXT];

	return c->name || c->number ? value_text(called_text(c, text)) : value_null();
}

static struct value *qualname_or_null(const struct code *code)
{
	return code ? value_text(code->qualname) : value_null();
}

static struct value *file_or_null(const struct code *code)
{
	return code ? value_text(code->file) : value_null();
}

struct value *summary_task(const struct profile *p, const struct async_task *t)
{
	uint64_t end_ns = t->ended_ns ? t->ended_ns : p->end_ns > t->made_ns ? p->end_ns : t->made_ns;
	uint64_t wall_ns = end_ns - t->made_ns;

	return value_pack("{s:o, s:o, s:o, s:i, s:o, s:I, s:I, s:b, s:b, s:I, s:I, s:I}", "name",
			  called_or_null(&t->called), "coroutine", qualname_or_null(t->coroutine), "file",
			  file_or_null(t->coroutine), "pid", t->pid, "created_by", called_or_null(&t->by), "start_ns",
			  (int64_t)t->made_ns, "end_ns", (int64_t)end_ns, "older", t->older, "ended", t->ended_ns != 0,
			  "running_ns", (int64_t)t->running_ns, "waiting_ns", (int64_t)(wall_ns - t->running_ns),
			  "resumptions", (int64_t)t->resumptions);
}

static struct value *waits_of(const struct waited *w)
{
	struct value *list = value_array();

	for (size_t i = 0; i < WAITED && w->places[i].ns; i++)
		list = value_append(list, value_pack("{s:o, s:I}", "where", qualname_or_null(w->places[i].where), "ns",
						     (int64_t)w->places[i].ns));
	return list;
}

struct value *summary_task_group(const struct task_total *t)
{
	return value_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "coroutine",
			  qualname_or_null(t->coroutine), "file", file_or_null(t->coroutine), "tasks", (int64_t)t->n,
			  "count", (int64_t)(t->n - t->rows), "unfinished", (int64_t)t->unfinished, "wall_ns",
			  (int64_t)t->wall_ns, "running_ns", (int64_t)t->running_ns, "ready_ns", (int64_t)t->ready_ns,
			  "waiting_ns", (int64_t)(t->wall_ns - t->running_ns), "resumptions", (int64_t)t->resumptions,
			  "longest_ns", (int64_t)t->longest_ns, "longest", called_or_null(&t->longest), "waits",
			  waits_of(&t->waits));
}

static struct value *piece(const struct critical_piece *c)
{
	return value_pack("{s:s, s:o, s:o, s:s, s:o, s:i, s:I}", "kind", critical_kind_name(c->kind), "what",
			  qualname_or_null(c->what), "awaited_by", qualname_or_null(c->by), "wait",
			  c->wait ? wait_name(c->wait) : NULL, "task", called_or_null(&c->called), "tid", c->tid, "ns",
			  (int64_t)c->ns);
}

struct value *summary_request(const struct request *q)
{
	char trace[TRACED_TEXT], span[TRACED_TEXT];
	struct value *path = value_array();

	for (size_t i = 0; i < q->path.n; i++)
		path = value_append(path, piece(&q->path.pieces[i]));
	return value_pack("{s:I, s:o, s:i, s:s, s:s, s:I, s:I, s:o}", "number", (int64_t)q->number, "name",
			  called_or_null(&q->called), "pid", q->pid, "trace_id", traced_trace_id(&q->traced, trace),
			  "span_id", traced_span_id(&q->traced, span), "start_ns", (int64_t)q->begun_ns, "end_ns",
			  (int64_t)q->ended_ns, "path", path);
}

struct value *summary_request_group(const struct request_total *t)
{
	return value_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
			  called_or_null(&t->called), "count", (int64_t)t->n, "unfinished", (int64_t)t->unfinished,
			  "wall_ns", (int64_t)t->ns, "running_ns", (int64_t)t->by_kind[CRITICAL_RUNNING], "ready_ns",
			  (int64_t)t->by_kind[CRITICAL_READY], "awaiting_ns", (int64_t)t->by_kind[CRITICAL_AWAITING],
			  "blocked_ns", (int64_t)t->by_kind[CRITICAL_BLOCKED], "unknown_ns",
			  (int64_t)t->by_kind[CRITICAL_UNKNOWN], "longest_ns", (int64_t)t->longest_ns, "longest",
			  (int64_t)t->longest, "waits", waits_of(&t->waits));
}
