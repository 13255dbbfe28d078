// SPDX-License-Identifier: MIT
/*
 * What the program says itself: labels and counters, spans and requests. A span is nested in the activations that it
 * runs in (nested.c), and told to sinks as a part of each; the whole of it is counted (spans.c), and told if it is a
 * task's. So is a request, which is counted elsewhere (requests.c).
 */
#include "thread_parts.h"

#include <string.h>

#include "nested.h"
#include "objects.h"
#include "requests.h"
#include "shared/marker.h"

/* Of the thread's spans, at this time. */
static struct label_mark mark_at(const struct thread *t, const struct stack *st, uint64_t ns, uint64_t cycles)
{
	return (struct label_mark){ .pid = t->pid,
				    .tid = t->tid,
				    .interpreter = st ? st->interpreter : 0,
				    .greenlet = greenlets_shown(&t->greenlets),
				    .ns = ns,
				    .cycles = cycles };
}

int thread_leave_spans(const struct thread *t, struct stack *st, uint64_t ns, uint64_t cycles,
		       const struct subscribers *to)
{
	struct frame *f = stack_top(st);
	struct label_mark m = mark_at(t, st, ns, cycles);
	int err = nested_suspend(f->spans, &m, to);

	if (f->a.object && f->a.object->suspended)
		nested_append(&f->a.object->spans, f->spans);
	else
		nested_free(&f->spans);
	f->spans = NULL;
	return err;
}

int thread_adopt_spans(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct label_mark m = mark_at(t, st, s->time, s->cycles);
	int err = nested_suspend(t->outside_spans, &m, to);

	nested_append(&stack_top(st)->spans, t->outside_spans);
	t->outside_spans = NULL;
	return err;
}

int thread_enter_spans(const struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct label_mark m = mark_at(t, st, s->time, s->cycles);

	return nested_resume(&stack_top(st)->spans, &m, to);
}

int thread_end_spans(struct thread *t, uint64_t ns, uint64_t cycles, const struct subscribers *to)
{
	struct stack *st = thread_innermost_stack(t);
	struct label_mark m = mark_at(t, st, ns, cycles);

	return nested_end(st ? &stack_top(st)->spans : &t->outside_spans, &m, to);
}

int thread_lose_spans(struct thread *t, const struct subscribers *to)
{
	struct label_mark m = mark_at(t, NULL, t->last_ns, t->last_cycles);
	int err = nested_suspend(t->outside_spans, &m, to);

	nested_free(&t->outside_spans);
	return err;
}

/* It may have begun in any of the activations. */
static void find_over(const struct thread *t, const struct code *name, uint32_t which)
{
	const struct stack *st = thread_innermost_stack(t);
	bool found = false;

	for (uint32_t i = st ? st->nframes : 0; i-- && !found;)
		found = nested_over(st->frames[i].spans, name, which);
	if (!found)
		nested_over(t->outside_spans, name, which);
}

/* The whole of a span, if it is a task's. */
static int begin_whole(struct thread *t, const struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	const struct step *task = subject_task(t, to->profile);
	const struct open_span o = { m->name, which, m->ns, ++to->profile->spans.begun, task ? task->task : 0 };
	int err = spans_begin(&t->spans, &o);
	struct span_mark whole = { .pid = t->pid,
				   .task = o.task,
				   .begins = true,
				   .number = o.number,
				   .name = m->name,
				   .data = m->data,
				   .ns = m->ns,
				   .cycles = m->cycles };

	if (err || !o.task)
		return err;
	whole.called = task->called;
	whole.tid = task->tid;
	return SUBSCRIBERS_CALL(to, span, &whole);
}

static int tell_end(const struct thread *t, const struct open_span *o, uint64_t ns, uint64_t cycles, bool lost,
		    const struct subscribers *to)
{
	const struct span_mark whole = { .pid = t->pid,
					 .task = o->task,
					 .lost = lost,
					 .number = o->number,
					 .name = o->name,
					 .ns = ns,
					 .cycles = cycles };

	return o->task ? SUBSCRIBERS_CALL(to, span, &whole) : 0;
}

static int end_whole(struct thread *t, const struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	struct open_span *o = spans_find(&t->spans, m->name, which);
	int err = o ? tell_end(t, o, m->ns, m->cycles, false, to) : 0;

	return err || !o ? err : spans_end(&t->spans, &to->profile->spans, o, m->ns);
}

int thread_lose_wholes(struct thread *t, const struct subscribers *to)
{
	int err = 0;

	for (size_t i = t->spans.n; i-- && !err;)
		err = tell_end(t, &t->spans.all[i], t->last_ns, t->last_cycles, true, to);
	return err ?: spans_lose(&t->spans, &to->profile->spans);
}

static int begin_span(struct thread *t, struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	struct stack *st = thread_innermost_stack(t);

	m->interpreter = st ? st->interpreter : 0;
	return begin_whole(t, m, which, to)
		       ?: nested_begin(st ? &stack_top(st)->spans : &t->outside_spans, m, which, to);
}

static int end_span(struct thread *t, const struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	find_over(t, m->name, which);
	return end_whole(t, m, which, to) ?: thread_end_spans(t, m->ns, m->cycles, to);
}

/* --- requests ---------------------------------------------------------------------------------------------- */

/* OpenTelemetry's own functions begin and end a span of it: they are not what it is about. */
static bool is_telemetry(const struct stack *st)
{
	return st && stack_top(st) && strstr(stack_top(st)->a.code->file, "/opentelemetry/");
}

static int begin_request(struct thread *t, struct request *q, const struct sample *s, const struct subscribers *to)
{
	struct stack *st = thread_innermost_stack(t);
	const struct step *task = subject_task(t, to->profile);
	struct label_mark m = mark_at(t, st, s->time, s->cycles);
	struct span_mark whole = {
		.pid = t->pid, .begins = true, .name = q->called.name, .ns = s->time, .cycles = s->cycles
	};
	int err = 0;

	m.name = q->called.name;
	if (!m.name)
		return 0;
	if (!is_telemetry(st))
		err = nested_begin(st ? &stack_top(st)->spans : &t->outside_spans, &m, (uint32_t)s->payload, to);
	if (err || !task)
		return err;
	whole.called = task->called;
	whole.tid = task->tid;
	q->tid = t->tid;
	whole.task = q->task = task->task;
	whole.number = q->span = ++to->profile->spans.begun;
	return SUBSCRIBERS_CALL(to, span, &whole);
}

/* lost: its end was not seen. */
static int tell_request_end(const struct request *q, uint64_t ns, uint64_t cycles, bool lost,
			    const struct subscribers *to)
{
	const struct span_mark whole = { .pid = q->pid,
					 .task = q->task,
					 .lost = lost,
					 .number = q->span,
					 .name = q->called.name,
					 .ns = ns,
					 .cycles = cycles };

	return q->span ? SUBSCRIBERS_CALL(to, span, &whole) : 0;
}

int thread_take_request(struct thread *t, const struct sample *s, bool begins, const struct subscribers *to)
{
	struct requests *all = &to->profile->requests;
	uint64_t object = s->payload & MARKER_SUBJECT_MAX;
	struct request *q = requests_open(all, t->pid, object);
	int err = q ? tell_request_end(q, s->time, s->cycles, begins, to) : 0;

	if (q && q->called.name && !err) {
		find_over(t, q->called.name, (uint32_t)s->payload);
		err = thread_end_spans(t, s->time, s->cycles, to);
	}
	err = err ?: subject_word(t, s, to);
	q = begins && !err ? requests_open(all, t->pid, object) : NULL;
	return q ? begin_request(t, q, s, to) : err;
}

int thread_lose_request(const struct thread *t, const struct request *q, const struct subscribers *to)
{
	return tell_request_end(q, t->last_ns, t->last_cycles, true, to);
}

/* --- labels ------------------------------------------------------------------------------------------------ */

static int tell_label(struct thread *t, struct label_mark *m, uint32_t which, const struct subscribers *to)
{
	if (m->what == LABEL_BEGIN)
		return begin_span(t, m, which, to);
	if (m->what == LABEL_END)
		return end_span(t, m, which, to);
	return SUBSCRIBERS_CALL(to, label, m);
}

int thread_take_label(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct label_mark m = { .pid = s->pid,
				.tid = s->tid,
				.greenlet = greenlets_shown(&t->greenlets),
				.what = (enum label_what)(s->payload >> MARKER_LABEL_SHIFT & MARKER_LABEL_MASK),
				.name = s->named,
				.ns = s->time,
				.cycles = s->cycles };
	uint32_t which = s->payload & ((1u << MARKER_LABEL_LOW) - 1);
	int err;

	if (m.what == LABEL_COUNTER)
		m.value = label_data_number(&t->data, s->payload);
	else if (label_data_is_whole(&t->data))
		m.data = &t->data;
	err = m.name ? tell_label(t, &m, which, to) : 0; /* its id is 0 */
	label_data_forget(&t->data);
	return err;
}
