// SPDX-License-Identifier: MIT
/*
 * Words that are no events of code: what the thread waited for, imported or collected, and in which C functions it
 * was. All of it is the innermost activation's.
 */
#include "thread_parts.h"

#include <stdlib.h>

#include "code/origin.h"
#include "idle.h"

/* Adds to a function's waits, which are there from the first one on. 0 or -ENOMEM. */
static int add_wait(struct waits **w, enum wait_kind kind, uint64_t ns)
{
	if (!*w)
		*w = calloc(1, sizeof(**w));
	if (!*w)
		return -ENOMEM;
	waits_add(*w, kind, ns);
	return 0;
}

/* For whom the innermost activation waits: its step, or the innermost function that is more the program's own. */
static const struct code *waits_for(const struct thread *t, const struct stack *st, const struct profile *p)
{
	struct code *step = subject_what(t, p), *own = stack_top(st)->a.code;

	for (const struct frame *f = stack_top(st); f-- > st->frames && origin_rank(p->codes, own) < ORIGIN_RANK_MOST;)
		if (origin_rank(p->codes, f->a.code) > origin_rank(p->codes, own))
			own = f->a.code;
	return step && origin_rank(p->codes, step) >= origin_rank(p->codes, own) ? step : own;
}

/* What it waited for was done meanwhile, or it waited for something else: what was done before, or is not yet. */
static bool is_done_in(const struct stall *stall, const struct job *awaited)
{
	return awaited && awaited->done_ns > stall->from_ns && awaited->done_ns < stall->until_ns;
}

/* For requests' paths. Of a call in which the thread was on a CPU, too, the end counts as what it waited. */
static int note_stall(const struct thread *t, const struct stack *inner, enum wait_kind kind, uint64_t ns,
		      uint64_t until_ns, struct profile *p)
{
	const struct job *awaited = subject_awaited(t, inner, p);
	struct stall stall = { .kind = kind,
			       .from_ns = until_ns - ns,
			       .until_ns = until_ns,
			       .where = inner ? stack_top(inner)->a.code : NULL,
			       .by = inner ? waits_for(t, inner, p) : NULL };

	if (is_done_in(&stall, awaited)) {
		stall.done_ns = awaited->done_ns;
		stall.done_by = awaited->done_by;
	}
	return stalls_add(&p->steps.stalls, t->pid, t->tid, stall);
}

/* The innermost activation waited. */
static int take_wait(struct thread *t, const struct sample *s, struct profile *p)
{
	const struct stack *inner = thread_innermost_stack(t);
	struct function *fn = inner ? stack_top(inner)->a.code->function : NULL;
	struct wait_time took;
	enum wait_kind kind = wait_word(&t->wait, s->payload, s->time, t->off.waiting_ns, &took);
	uint64_t ns = t->cpu.known && !t->early && kind != WAIT_FOR_RING ? took.waiting_ns : took.ns;
	bool idle;

	if (!kind || !ns)
		return 0;
	if (p->requests.begun && note_stall(t, inner, kind, ns, s->time, p))
		return -ENOMEM;
	if (t->early)
		return 0;
	idle = inner && kind != WAIT_FOR_GIL && kind != WAIT_FOR_RING && idle_is_worker(inner);
	if (fn && (add_wait(&fn->waits, kind, ns) || (idle && add_wait(&fn->idle, kind, ns))))
		return -ENOMEM;
	if (!fn)
		waits_add(&p->outside_waits, kind, ns);
	waits_add(&p->all_waits, kind, ns);
	if (idle)
		waits_add(&p->idle_waits, kind, ns);
	t->gil_ns += kind == WAIT_FOR_GIL ? ns : 0;
	return s->named ? locks_add(&p->locks, s->named, took.place & MARKER_PLACE_LINES, ns) : 0;
}

/* The innermost activation, which has just begun, is an import. */
static int take_import(struct thread *t, const struct sample *s, struct profile *p)
{
	struct stack *st = stack_of(t, s->interpreter);
	struct frame *f = st ? stack_top(st) : NULL;

	if (!f || f->import || !import_is_of(f->a.code)) /* its beginning was not seen, or is left out */
		return 0;
	f->import = s->named ? imports_find(&p->imports, st->import, s->named->qualname, s->time) : NULL;
	if (!f->import)
		return -ENOMEM;
	st->import = f->import;
	return 0;
}

/* The innermost activation of a Python function; NULL: none is known. */
static const struct code *python_code(const struct stack *inner)
{
	const struct frame *f = inner ? stack_top(inner) : NULL;

	while (f && f->a.code->c)
		f = f > inner->frames ? f - 1 : NULL;
	return f ? f->a.code : NULL;
}

/* It was in these C functions. */
static int take_native(struct thread *t, const struct sample *s, struct profile *p)
{
	const struct code *code = python_code(thread_innermost_stack(t));
	struct function *fn = code ? code->function : NULL;

	p->samples++;
	p->outside_samples += !fn;
	if (fn && !fn->sampled)
		fn->sampled = calloc(1, sizeof(*fn->sampled));
	if (fn && !fn->sampled)
		return -ENOMEM;
	return fn ? sampled_add(fn->sampled, (uint32_t)s->payload) : 0;
}

struct function *thread_gil_function(const struct thread *t)
{
	const struct code *code = python_code(thread_innermost_stack(t));

	return code ? code->function : NULL;
}

void thread_held_gil(struct thread *t, uint64_t ns)
{
	struct function *function = thread_gil_function(t);

	t->gil_held_ns += ns;
	if (function)
		function->gil_held_ns += ns;
}

static int begin_collection(struct thread *t, struct stack *st, struct code *code, const struct sample *s,
			    const struct subscribers *to)
{
	struct sample begun = *s;

	begun.op = OP_PY_START;
	begun.code = code;
	begun.offset = 0;
	return thread_enter(t, st, &begun, false, to);
}

/* Finalizers have run in it: the end of some may not have been seen. */
static int end_collection(struct thread *t, struct stack *st, const struct code *code, const struct sample *s,
			  const struct subscribers *to)
{
	struct collection c = collection_of(s->payload);
	int err;

	if (!stack_has(st, code)) /* it began before the trace */
		return 0;
	err = thread_close_above(t, st, stack_innermost(st, code), s, to);
	if (err)
		return err;
	collections_add(&to->profile->collections, &c, s->time - stack_top(st)->a.start_ns);
	return thread_leave(t, st, s->time, s->cycles, LEAVE_RETURN, to);
}

/* A collection is an activation of its own, of no Python function. */
static int collect(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct collection c = collection_of(s->payload);
	struct stack *st = stack_of(t, s->interpreter);
	int err;

	if (!st || !s->named)
		return -ENOMEM;
	err = c.begins ? begin_collection(t, st, s->named, s, to) : end_collection(t, st, s->named, s, to);
	stand_at(t, s);
	return err;
}

int thread_extension(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct profile *p = to->profile;

	p->known_kinds += s->kind == KIND_COLLECTION || s->kind == KIND_IMPORT || s->kind == KIND_EXCEPTION;
	p->known_kinds += s->kind == KIND_CPU || s->kind == KIND_CPU_TIME || s->kind == KIND_WAIT ||
			  s->kind == KIND_NATIVE;
	if (s->kind == KIND_CPU_TIME)
		used_word(&t->used, s->payload);
	if (s->kind == KIND_CPU)
		return thread_take_cpu(t, s, to);
	if (s->kind == KIND_NATIVE)
		return take_native(t, s, p);
	if (s->kind == KIND_COLLECTION)
		return t->early ? 0 : collect(t, s, to);
	p->known_kinds += s->kind == KIND_LABEL || s->kind == KIND_VALUE;
	if (s->kind == KIND_VALUE)
		return label_data_add(&t->data, s->payload, s->named);
	if (s->kind == KIND_LABEL)
		return thread_take_label(t, s, to);
	p->known_kinds += s->kind == KIND_SUBJECT;
	if (s->kind == KIND_SUBJECT)
		return thread_take_subject(t, s, to);
	if (s->kind == KIND_EXCEPTION)
		thread_take_exception(t, s);
	if (s->kind == KIND_IMPORT)
		return t->early ? 0 : take_import(t, s, p);
	return s->kind == KIND_WAIT ? take_wait(t, s, p) : 0;
}
