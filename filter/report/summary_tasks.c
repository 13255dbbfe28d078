// SPDX-License-Identifier: MIT
/* Tasks and requests. jansson's packing returns NULL if a part is NULL, so memory is checked once. */
#include "summary_objects.h"

#include "base/json.h"

static json_t *called_or_null(const struct called *c)
{
	char text[CALLED_TEXT];

	return c->name || c->number ? json_text(called_text(c, text)) : json_null();
}

static json_t *qualname_or_null(const struct code *code)
{
	return code ? json_text(code->qualname) : json_null();
}

static json_t *file_or_null(const struct code *code)
{
	return code ? json_text(code->file) : json_null();
}

json_t *summary_task(const struct profile *p, const struct async_task *t)
{
	uint64_t end_ns = t->ended_ns ? t->ended_ns : p->end_ns > t->made_ns ? p->end_ns : t->made_ns;
	uint64_t wall_ns = end_ns - t->made_ns;

	return json_pack("{s:o, s:o, s:o, s:i, s:o, s:I, s:I, s:b, s:b, s:I, s:I, s:I}", "name",
			 called_or_null(&t->called), "coroutine", qualname_or_null(t->coroutine), "file",
			 file_or_null(t->coroutine), "pid", t->pid, "created_by", called_or_null(&t->by), "start_ns",
			 (json_int_t)t->made_ns, "end_ns", (json_int_t)end_ns, "older", t->older, "ended",
			 t->ended_ns != 0, "running_ns", (json_int_t)t->running_ns, "waiting_ns",
			 (json_int_t)(wall_ns - t->running_ns), "resumptions", (json_int_t)t->resumptions);
}

static json_t *waits_of(const struct waited *w)
{
	json_t *list = json_array();

	for (size_t i = 0; i < WAITED && w->places[i].ns; i++)
		json_array_append_new(list, json_pack("{s:o, s:I}", "where", qualname_or_null(w->places[i].where), "ns",
						      (json_int_t)w->places[i].ns));
	return list;
}

json_t *summary_task_group(const struct task_total *t)
{
	return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "coroutine",
			 qualname_or_null(t->coroutine), "file", file_or_null(t->coroutine), "tasks", (json_int_t)t->n,
			 "count", (json_int_t)(t->n - t->rows), "unfinished", (json_int_t)t->unfinished, "wall_ns",
			 (json_int_t)t->wall_ns, "running_ns", (json_int_t)t->running_ns, "ready_ns",
			 (json_int_t)t->ready_ns, "waiting_ns", (json_int_t)(t->wall_ns - t->running_ns), "resumptions",
			 (json_int_t)t->resumptions, "longest_ns", (json_int_t)t->longest_ns, "longest",
			 called_or_null(&t->longest), "waits", waits_of(&t->waits));
}

static json_t *piece(const struct critical_piece *c)
{
	return json_pack("{s:s, s:o, s:o, s:s?, s:o, s:i, s:I}", "kind", critical_kind_name(c->kind), "what",
			 qualname_or_null(c->what), "awaited_by", qualname_or_null(c->by), "wait",
			 c->wait ? wait_name(c->wait) : NULL, "task", called_or_null(&c->called), "tid", c->tid, "ns",
			 (json_int_t)c->ns);
}

json_t *summary_request(const struct request *q)
{
	char trace[TRACED_TEXT], span[TRACED_TEXT];
	json_t *path = json_array();

	for (size_t i = 0; i < q->path.n; i++)
		json_array_append_new(path, piece(&q->path.pieces[i]));
	return json_pack("{s:I, s:o, s:i, s:s?, s:s?, s:I, s:I, s:o}", "number", (json_int_t)q->number, "name",
			 called_or_null(&q->called), "pid", q->pid, "trace_id", traced_trace_id(&q->traced, trace),
			 "span_id", traced_span_id(&q->traced, span), "start_ns", (json_int_t)q->begun_ns, "end_ns",
			 (json_int_t)q->ended_ns, "path", path);
}

json_t *summary_request_group(const struct request_total *t)
{
	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "name",
			 called_or_null(&t->called), "count", (json_int_t)t->n, "unfinished", (json_int_t)t->unfinished,
			 "wall_ns", (json_int_t)t->ns, "running_ns", (json_int_t)t->by_kind[CRITICAL_RUNNING],
			 "ready_ns", (json_int_t)t->by_kind[CRITICAL_READY], "awaiting_ns",
			 (json_int_t)t->by_kind[CRITICAL_AWAITING], "blocked_ns",
			 (json_int_t)t->by_kind[CRITICAL_BLOCKED], "unknown_ns",
			 (json_int_t)t->by_kind[CRITICAL_UNKNOWN], "longest_ns", (json_int_t)t->longest_ns, "longest",
			 (json_int_t)t->longest, "waits", waits_of(&t->waits));
}
