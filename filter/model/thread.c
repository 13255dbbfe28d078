// SPDX-License-Identifier: MIT
/*
 * The one place where events change stacks: which activation an event of code is about, and what it does to that.
 * Sinks are called after the stack has changed, except with the raw sample. What few events of code need, and all other
 * words, are in the files that thread_parts.h lists.
 */
#include "thread.h"

#include <stdlib.h>

#include "loop.h"
#include "nested.h"
#include "objects.h"
#include "thread_parts.h"

/* A LINE may come before the PY_START of its activation, which is then in no frame yet. */
static __attribute__((noinline)) void begin_line(struct stack *st, const struct sample *s)
{
	struct frame *f = stack_top(st);

	if (f && f->a.code == s->code)
		charge_line(f, s->cycles, function_line(s->code, s->line));
}

/* A generator catches what strikes at its RESUME, if only to raise it anew: it goes on from there, without an event. */
static bool began_unreported(const struct stack *st, const struct sample *s)
{
	return s->code->generator && s->code->process->starts_late && !stack_has(st, s->code);
}

/*
 * Makes the frame of the sample's code innermost. Usually it is. If the end of frames inside it was not seen (CPython
 * omits some, and so may a faulty trace), they are closed. If the frame was open before the trace began, it is adopted,
 * provided it lives on after this event.
 */
static COLD int realign(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (stack_top(st) && began_unreported(st, s))
		return thread_enter(t, st, s, true, to);
	err = thread_close_above(t, st, stack_innermost(st, s->code), s, to);
	if (!err && !stack_top(st) && sample_op_effect(s->op) == STACK_KEEP)
		err = thread_enter(t, st, s, true, to);
	return err;
}

static inline int align(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	const struct frame *top = stack_top(st);

	return top && top->a.code == s->code ? 0 : realign(t, st, s, to);
}

/* Is what is innermost another object than the one that yields? That one was resumed without an event. */
static bool is_others(const struct stack *st, const struct object *o)
{
	const struct frame *top = stack_top(st);

	return o && top && top->a.object && top->a.object != o && top->a.code == o->code;
}

static int yield(struct thread *t, struct stack *st, const struct object *o, const struct sample *s,
		 const struct subscribers *to)
{
	uint64_t address = o->address;

	return thread_leave(t, st, s->time, s->cycles, LEAVE_YIELD, to) ?: thread_yielded(t, st, address, s, to);
}

static int pop(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	static const enum leave_how hows[OP_COUNT] = {
		[OP_PY_RETURN] = LEAVE_RETURN,
		[OP_PY_YIELD] = LEAVE_YIELD,
		[OP_PY_UNWIND] = LEAVE_UNWIND,
	};
	bool struck = s->op == OP_PY_UNWIND && thread_is_struck(s);
	struct object *o = object_of(s);
	int err = struck || is_others(st, o) ? thread_enter(t, st, s, true, to) : align(t, st, s, to);

	/* Nothing to pop: it was open before the trace began. */
	if (err || !stack_top(st))
		return err;
	if (o && !stack_top(st)->a.object)
		err = thread_run_object(st, o, s);
	if (o && s->op == OP_PY_YIELD)
		return err ?: yield(t, st, o, s, to);
	t->doing.last.address = 0;
	return err ? err : thread_leave(t, st, s->time, s->cycles, hows[s->op], to);
}

int thread_back_edge(struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct trip trip;
	int err = loop_back_edge(st, s, &trip);

	if (err == LOOP_NONE)
		return 0;
	return err ? err : SUBSCRIBERS_CALL(to, iterate, &trip);
}

static const struct instr *back_edge_at(const struct code *code, int64_t offset)
{
	uint32_t i = code_index(code, offset);

	return i < code->ninstrs && code->instrs[i].back_edge ? &code->instrs[i] : NULL;
}

/* Without JUMP events (mode precise) an INSTRUCTION at the target of the previous one's jump is the back-edge. */
static __attribute__((noinline)) int arrive(struct frame *f, struct stack *st, const struct sample *s,
					    const struct subscribers *to)
{
	struct sample jump = *s;

	jump.op = OP_JUMP;
	jump.offset = f->jumping->offset;
	jump.target = s->offset;
	return thread_back_edge(st, &jump, to);
}

/* INSTRUCTIONs up to the first RESUME come before the PY_START of their activation: they are in no frame yet. */
static __attribute__((noinline)) int step(struct thread *t, struct stack *st, const struct sample *s,
					  const struct subscribers *to)
{
	struct frame *f = stack_top(st);
	int err = charge_next(&t->charged, s, to->profile);

	if (err || !f || f->a.code != s->code || s->offset <= s->code->entry)
		return err;
	err = f->jumping && f->jumping->target == s->offset ? arrive(f, st, s, to) : 0;
	f->jumping = back_edge_at(s->code, s->offset);
	f->instrs++;
	return err;
}

/* What is not written in Python has no events of its own: its activation is from the CALL to what ends it. */
static int enter_c(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct sample begun = *s;
	int err;

	begun.op = OP_PY_START;
	begun.code = s->callee;
	err = thread_enter(t, st, &begun, false, to);
	if (!err)
		stack_top(st)->called_at = s->offset;
	return err;
}

/* C_RETURN, C_RAISE. Without a CALL that is known to be of a C function it is an event of its caller, as any other. */
static int leave_c(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	const struct frame *f = stack_c_call(st, s->code, s->offset);
	int err;

	if (!f)
		return align(t, st, s, to);
	err = stack_top(st) != f ? thread_close_above(t, st, f, s, to) : 0;
	return err ? err
		   : thread_leave(t, st, s->time, s->cycles, s->op == OP_C_RETURN ? LEAVE_RETURN : LEAVE_UNWIND, to);
}

static int keep(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (s->op == OP_INSTRUCTION)
		return step(t, st, s, to);
	if (s->op == OP_LINE) {
		begin_line(st, s);
		return 0;
	}
	if (s->op == OP_RAISE && thread_is_struck(s))
		return 0;
	if (s->op == OP_C_RETURN || s->op == OP_C_RAISE)
		return leave_c(t, st, s, to);
	err = align(t, st, s, to);
	if (!err && s->op == OP_CALL && s->callee)
		return enter_c(t, st, s, to);
	if (!err && t->raises && (s->op == OP_RAISE || s->op == OP_RERAISE))
		return thread_raise_here(t, st, s, to);
	if (!err && st->flights && s->op == OP_EXCEPTION_HANDLED)
		return thread_handle_here(st, s, to);
	if (err || s->op != OP_JUMP || s->target > s->offset)
		return err;
	stack_top(st)->jumping = NULL;
	return thread_back_edge(st, s, to);
}

/* What awaited the innermost goes on when that has ended: it is on the stack. */
static COLD int throw_into(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	struct frame *f = stack_top(st);
	int err;

	if (f && f->awaits && f->a.object == object_of(s)) {
		f->awaits = false;
		f->a.op = OP_PY_THROW;
		s->code->function->resumes++;
		return SUBSCRIBERS_CALL(to, resume, &f->a);
	}
	err = thread_thrown(t, st, s, to);
	return err ?: thread_enter(t, st, s, false, to);
}

int thread_act(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	switch (sample_op_effect(s->op)) {
	case STACK_PUSH:
		return s->op == OP_PY_THROW ? throw_into(t, st, s, to) : thread_enter(t, st, s, false, to);
	case STACK_POP:
		return pop(t, st, s, to);
	case STACK_KEEP:
		return keep(t, st, s, to);
	}
	return 0;
}

static int count_and_act(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct stack *st = stack_of(t, s->interpreter);
	struct function *fn = function_of(s->code);

	if (!st || !fn)
		return -ENOMEM;
	fn->events[s->op]++;
	return thread_act(t, st, s, to);
}

/*
 * No duration may be negative: a sample from before the thread's last one (a clock that was set back, damaged packets)
 * counts as simultaneous with it, and is counted.
 */
static COLD const struct sample *forward(const struct thread *t, const struct sample *s, struct sample *copy,
					 const struct subscribers *to)
{
	to->profile->backwards++;
	*copy = *s;
	copy->time = later(s->time, t->last_ns);
	copy->cycles = later(s->cycles, t->last_cycles);
	return copy;
}

/* Anything but an event of code. Foreign words and those of unknown kinds say nothing about the thread. */
static COLD int feed_other(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err;

	if (s->op == SAMPLE_FOREIGN)
		to->profile->foreign += s->count;
	if (s->op == OP_EXTENSION)
		return thread_extension(t, s, to);
	if (s->op == SAMPLE_FOREIGN)
		return 0;
	if (s->op == OP_SNAPSHOT)
		err = thread_segment(t, s, to);
	else
		err = s->op == SAMPLE_RESTART ? thread_restart(t, s, to) : thread_gap(t, s, to);
	stand_at(t, s);
	return err;
}

int thread_tell_passed(struct thread *t, const struct subscribers *to)
{
	uint64_t events = t->passed;

	t->passed = 0;
	return events ? SUBSCRIBERS_CALL(to, passed, t->pid, t->tid, events, t->last_ns) : 0;
}

int thread_tell(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	int err = thread_tell_passed(t, to);

	if (err || !to->first.sample)
		return err;
	err = SUBSCRIBERS_CALL(to, sample, s);
	t->quiet_ns = subscribers_quiet_until(to, t->pid, t->tid);
	return err;
}

int thread_feed(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct sample copy, identified;
	int err;

	if (s->op >= OP_PY_START && s->op <= OP_PY_THROW && s->code->generator) {
		identified = *s;
		thread_identify(t, &identified, to->profile);
		s = &identified;
	}
	err = thread_tell(t, s, to);
	if (err)
		return err;
	if (s->time < t->last_ns || s->cycles < t->last_cycles)
		s = forward(t, s, &copy, to);
	if (s->op > OP_EVENT_LAST)
		return feed_other(t, s, to);
	err = count_and_act(t, s, to);
	stand_at(t, s);
	return err;
}

void thread_free(struct thread *t)
{
	open_spans_free(&t->spans);
	label_data_free(&t->data);
	nested_free(&t->outside_spans);
	thread_free_stacks(t);
	greenlets_free(&t->greenlets);
	free(t);
}
