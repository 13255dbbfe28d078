// SPDX-License-Identifier: MIT
/*
 * The beginning and the end of the innermost activation: what is counted and charged then, and whom it concerns.
 * Totals of functions are added up when an activation ends.
 */
#include "thread_parts.h"

#include "loop.h"
#include "nested.h"
#include "objects.h"

static inline void add_totals(const struct frame *f, uint64_t ns, uint64_t cycles, enum leave_how how)
{
	struct function *fn = f->a.code->function;

	function_ran(fn, ns, cycles, f->a.callee_ns, f->a.callee_cycles, f->recursive);
	fn->unfinished += how == LEAVE_GAP || how == LEAVE_END;
}

/*
 * An interpreter that runs inside another is called by it. A caller that appeared only while the callee ran (it was
 * open before the trace) is charged from there on.
 */
static inline void charge_caller(const struct thread *t, const struct stack *s, const struct frame *f, uint64_t ns,
				 uint64_t cycles)
{
	const struct stack *outer = s->nframes ? s : thread_innermost_stack(t);
	struct frame *caller = outer ? stack_top(outer) : NULL;

	if (!caller)
		return;
	caller->a.callee_ns += ns - later(f->a.start_ns, caller->a.start_ns);
	caller->a.callee_cycles += cycles - later(f->a.start_cycles, caller->a.start_cycles);
}

/* An activation ends in an import, or is the import's own. */
static COLD int end_in_import(struct stack *s, const struct frame *f, uint64_t ns, enum leave_how how)
{
	int err = import_ran(s->import, f->a.code, ns - f->a.callee_ns);

	if (f->import) {
		import_ends(f->import, ns, how == LEAVE_UNWIND);
		s->import = f->import->parent;
	}
	return err;
}

/* What was on its way in the activation that ends. */
static COLD void end_flights(struct stack *s, const struct frame *f, enum leave_how how)
{
	uint32_t depth = s->nframes + 1;

	if (how == LEAVE_UNWIND)
		flights_unwind(s->flights, depth, f->a.code);
	else if (how == LEAVE_GAP || how == LEAVE_END)
		flights_lose(s->flights, depth);
	else
		flights_return(s->flights, depth);
}

/* What it was the activation of is suspended, has ended, or is out of sight. */
static int end_object(struct thread *t, struct stack *s, struct object *o, uint64_t ns, uint64_t cycles,
		      enum leave_how how)
{
	if (how != LEAVE_YIELD || !o->address)
		return 0;
	o->running = false;
	o->suspended = true;
	o->since_ns = ns;
	o->epoch = t->objects->epoch;
	return loop_hold_frame(s, &o->held, ns, cycles);
}

/* The innermost activation, which is in no loop any more, is taken off the stack, and counted. */
static inline __attribute__((always_inline)) int take_off(struct thread *t, struct stack *s, uint64_t ns,
							  uint64_t cycles, enum leave_how how,
							  const struct subscribers *to)
{
	struct frame *f = stack_pop(s);
	int err = 0;

	charge_line(f, cycles, NULL);
	if (s->import)
		err = end_in_import(s, f, ns - f->a.start_ns, how);
	if (s->flights)
		end_flights(s, f, how);
	add_totals(f, ns - f->a.start_ns, cycles - f->a.start_cycles, how);
	charge_caller(t, s, f, ns, cycles);
	if (!--t->depth) {
		t->empty_ns = ns;
		t->empty_cycles = cycles;
	}
	return err ?: SUBSCRIBERS_CALL(to, leave, &f->a, how, ns, cycles);
}

int thread_leave(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		 const struct subscribers *to)
{
	bool seen = how != LEAVE_GAP && how != LEAVE_END;
	struct object *o = stack_top(s)->a.object;
	int err = stack_top(s)->step || o ? subject_ends(t, s, o, ns, how, to) : 0;

	err = err ?: o ? end_object(t, s, o, ns, cycles, how) : 0;
	if (stack_top(s)->spans)
		err = err ?: thread_leave_spans(t, s, ns, cycles, to);
	err = err ?: loop_leave_frame(s, seen);
	err = err ?: take_off(t, s, ns, cycles, how, to);
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

/* Neither the end of the innermost activation, nor what it goes back to, concerns anything but stack and totals. */
static inline bool ends_plainly(const struct thread *t, const struct stack *s)
{
	const struct frame *f = stack_top(s);

	return s->nframes > 1 && !f->step && !f->a.object && !f->spans && !f[-1].spans && !t->outside_spans;
}

int thread_leave_plain(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, const struct subscribers *to)
{
	int err;

	if (!ends_plainly(t, s))
		return THREAD_SLOW;
	err = s->nloops > stack_top(s)->loops ? loop_leave_frame(s, true) : 0;
	return err ?: take_off(t, s, ns, cycles, LEAVE_RETURN, to);
}

/* A call of what has been called before on this stack, in which nothing else than calls begins. */
static inline bool begins_plainly(const struct thread *t, const struct stack *st, const struct function *fn)
{
	return fn && fn->stack == st && stack_has_room(st) && t->depth && !st->import &&
	       !subject_is_concerned(&t->doing, NULL);
}

static inline void count_call(struct thread *t, struct function *fn, const struct frame *f)
{
	fn->cpu_unknown |= !t->cpu.known;
	fn->calls++;
	fn->recursive_calls += f->recursive;
	t->depth++;
	t->doing.yielded = NULL;
	t->doing.last.address = 0;
}

int thread_enter_plain(struct thread *t, struct stack *st, struct code *code, uint64_t ns, uint64_t cycles,
		       const struct subscribers *to)
{
	const struct sample s = {
		.op = OP_PY_START, .pid = t->pid, .tid = t->tid, .code = code, .time = ns, .cycles = cycles
	};
	struct function *fn = code->function;
	struct frame *f;

	if (!begins_plainly(t, st, fn))
		return THREAD_SLOW;
	f = stack_put(st, fn->activity, &s);
	count_call(t, fn, f);
	return SUBSCRIBERS_CALL(to, enter, &f->a);
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
	err = subject_is_concerned(&t->doing, o) ? subject_begins(t, st, o, s->time, to) : 0;
	if (err)
		return err;
	fn->cpu_unknown |= !t->cpu.known;
	if (!t->depth)
		begin_outermost(t, s, adopted, to->profile);
	if (st->import)
		import_begins(st->import, s->code);
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
	err = err ?: SUBSCRIBERS_CALL(to, enter, &f->a);
	return err || !f->spans ? err : thread_enter_spans(t, st, s, to);
}
