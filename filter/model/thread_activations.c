// SPDX-License-Identifier: MIT
/*
 * The beginning and the end of the innermost activation: what is counted and charged then, and whom it concerns.
 * Totals of functions are added up when an activation ends.
 */
#include "thread_parts.h"
#include "thread_plain.h"

#include "loop.h"
#include "nested.h"
#include "objects.h"

/* A caller that appeared only while the callee ran (it was open before the trace) is charged from there on. */
void thread_charge_outer(const struct thread *t, const struct frame *f, uint64_t ns, uint64_t cycles)
{
	const struct stack *outer = thread_innermost_stack(t);
	struct frame *caller = outer ? stack_top(outer) : NULL;

	if (!caller)
		return;
	caller->a.callee_ns += ns - later(f->a.start_ns, caller->a.start_ns);
	caller->a.callee_cycles += cycles - later(f->a.start_cycles, caller->a.start_cycles);
}

/* An activation ends in an import, or is the import's own. */
static int end_in_import(struct stack *s, const struct frame *f, uint64_t ns, enum leave_how how)
{
	int err = import_ran(s->import, f->a.code, ns - f->a.callee_ns);

	if (f->import) {
		import_ends(f->import, ns, how == LEAVE_UNWIND);
		s->import = f->import->parent;
	}
	return err;
}

/* What was on its way in the activation that ends. */
static void end_flights(struct stack *s, const struct frame *f, enum leave_how how)
{
	uint32_t depth = s->nframes + 1;

	if (how == LEAVE_UNWIND)
		flights_unwind(s->flights, depth, f->a.code);
	else if (how == LEAVE_GAP || how == LEAVE_END)
		flights_lose(s->flights, depth);
	else
		flights_return(s->flights, depth);
}

int thread_end_seldom(struct stack *s, struct frame *f, uint64_t ns, uint64_t cycles, enum leave_how how)
{
	int err = 0;

	if (f->line)
		charge_line(f, cycles, NULL);
	if (s->import)
		err = end_in_import(s, f, ns - f->a.start_ns, how);
	if (s->flights)
		end_flights(s, f, how);
	return err;
}

/* What it was the activation of is suspended, has ended, or is out of sight. */
static void end_object(const struct thread *t, struct stack *s, struct object *o, uint64_t ns, uint64_t cycles,
		       enum leave_how how)
{
	if (how != LEAVE_YIELD || !o->address)
		return;
	o->running = false;
	o->suspended = true;
	o->since_ns = ns;
	o->epoch = t->objects->epoch;
	loop_hold_frame(s, &o->held, ns, cycles);
}

int thread_leave(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		 const struct subscribers *to)
{
	bool seen = how != LEAVE_GAP && how != LEAVE_END;
	struct object *o = stack_top(s)->a.object;
	int err = stack_top(s)->step || o ? subject_ends(t, s, o, ns, how, to) : 0;

	if (o && !err)
		end_object(t, s, o, ns, cycles, how);
	if (stack_top(s)->spans)
		err = err ?: thread_leave_spans(t, s, ns, cycles, to);
	err = err ?: loop_leave_frame(s, seen);
	err = err ?: take_off(t, s, stack_pop(s), ns, cycles, how, to, HEARD_EVENTS);
	if (t->outside_spans || (stack_top(s) && stack_top(s)->spans))
		err = err ?: thread_end_spans(t, ns, cycles, to);
	if (o && !o->suspended)
		objects_end(t->objects, o, ns, seen);
	return err;
}

int thread_close(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		 const struct subscribers *to)
{
	return thread_leave(t, s, ns, cycles, how, to);
}

int thread_close_all(struct thread *t, enum leave_how how, const struct subscribers *to)
{
	int err = 0;

	for (struct stack *s; !err && (s = thread_innermost_stack(t));)
		err = thread_close(t, s, t->last_ns, t->last_cycles, how, to);
	return err;
}

static int report_unmatched(const struct sample *s, uint64_t count, const struct subscribers *to)
{
	struct sample gap = *s;

	to->profile->unmatched += count;
	to->profile->mismatches++;
	gap.op = SAMPLE_UNMATCHED;
	gap.code = NULL;
	gap.target = SAMPLE_NOWHERE;
	gap.count = count;
	return SUBSCRIBERS_CALL(to, gap, &gap);
}

int thread_close_above(struct thread *t, struct stack *st, const struct frame *keep, const struct sample *s,
		       const struct subscribers *to)
{
	uint64_t closed = 0;
	int err = 0;

	for (; !err && stack_top(st) != keep; closed++)
		err = thread_close(t, st, s->time, s->cycles, LEAVE_GAP, to);
	return err || !closed ? err : report_unmatched(s, closed, to);
}

/* What was open before is further out than what was seen to begin. */
static void begin_outermost(struct thread *t, const struct sample *s, bool adopted, struct profile *p)
{
	struct greenlet *g = t->greenlets.running;

	if (g && (!g->function || (adopted && !t->greenlets.lost)))
		g->function = s->code;
	thread_end_outside(t, s->time, s->cycles, p);
}

int thread_run_object(struct stack *st, struct object *o, const struct sample *s)
{
	uint64_t suspended_ns = o->suspended && s->time > o->since_ns ? s->time - o->since_ns : 0;

	stack_top(st)->a.object = o;
	o->running = true;
	nested_append(&stack_top(st)->spans, o->spans);
	o->spans = NULL;
	if (!o->suspended)
		return 0;
	o->suspended = false;
	o->code->function->suspended_ns += suspended_ns;
	return loop_resume_frame(st, &o->held, s->time, s->cycles, suspended_ns);
}

int thread_enter(struct thread *t, struct stack *st, const struct sample *s, bool adopted, const struct subscribers *to)
{
	struct object *o = object_of(s);

	struct function *fn = function_of(s->code);
	struct frame *f = stack_push(st, s);
	int err;

	if (!fn || !f || (o && thread_run_object(st, o, s)))
		return -ENOMEM;
	t->doing.yielded = NULL;
	t->doing.last.address = 0;
	err = subject_is_concerned(&t->doing, o, s->code) ? subject_begins(t, st, o, s->time, to) : 0;
	if (err)
		return err;
	fn->cpu_unknown |= !t->cpu.known;
	if (!t->depth)
		begin_outermost(t, s, adopted, to->profile);
	if (st->import)
		import_begins(st->import, s->code, s->time);
	t->depth++;
	f->adopted = adopted;
	f->a.op = adopted ? 0 : f->a.op;
	if (adopted && t->outside_spans && t->depth == 1)
		err = thread_adopt_spans(t, st, s, to);
	if (err || adopted) {
		/* nothing is counted: it began before */
	} else if (s->op == OP_PY_START) {
		fn->calls++;
		fn->recursive_calls += f->recursive;
	} else {
		fn->resumes++;
	}
	err = err ?: tell_enter(t, &f->a, to);
	return err || !f->spans ? err : thread_enter_spans(t, st, s, to);
}
