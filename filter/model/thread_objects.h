/* SPDX-License-Identifier: MIT */
/*
 * thread_objects.h - how nearly all activations of generators and coroutines begin, are suspended, go on and end: where
 * calls and returns do (thread_plain.h), of an object that is known (objects.h). subjects.c is asked only about those
 * that have to do with a task. All others are in thread_identity.c and thread_activations.c. Only thread_quick.c
 * includes it: as functions of their own, which that calls at two places, these took 3 to 4 % more instructions. Only
 * ends are functions, of return_object(): inlined it made plain calls take 7 % more.
 *
 * PY_START, PY_RESUME, PY_YIELD and PY_RETURN are of code that has run before; `address` is the object's, 0: not told.
 * 0, -ENOMEM, what a sink returned, or THREAD_SLOW: what it is may have to be found out, or more than stack and totals
 * changes; nothing is done.
 */
#pragma once

#include "loop.h"
#include "objects.h"
#include "thread_parts.h"
#include "thread_plain.h"

/* Only sinks that hear of activations ask for the task's name. */
static inline void name_task(const struct thread *t, struct object *o, const struct subscribers *to, enum heard heard)
{
	if (heard > HEARD_NOTHING && (to->first.enter || to->first.leave))
		subject_name(t, o, to->profile);
}

static inline __attribute__((always_inline)) struct frame *put_object(const struct thread *t, struct stack *st,
								      enum marker_op op, struct code *code, uint64_t ns,
								      uint64_t cycles, enum heard heard)
{
	const struct sample s = { .op = op, .pid = t->pid, .tid = t->tid, .code = code, .time = ns, .cycles = cycles };

	return stack_put(st, code->function->activity, &s, heard == HEARD_TIMES);
}

/* The innermost activation, of this object, has been put on the stack. */
static inline __attribute__((always_inline)) int begin_of(struct thread *t, struct stack *st, struct object *o,
							  const struct subscribers *to, enum heard heard)
{
	struct frame *f = stack_top(st);
	int err = 0;

	f->a.object = o;
	o->running = true;
	t->doing.yielded = NULL;
	t->doing.last.address = 0;
	if (subject_is_concerned(&t->doing, o, o->code))
		err = subject_begins(t, st, o, f->a.start_ns, to);
	if (!t->cpu.known)
		o->code->function->cpu_unknown = true;
	t->depth++;
	return err || heard <= HEARD_NOTHING ? err : tell_enter(t, &f->a, to);
}

/* Does it begin or go on where calls of its code do? */
static inline bool runs_plainly(const struct stack *st, const struct code *code)
{
	const struct function *fn = code->function;

	return fn && fn->stack == st && stack_has_room(st) && stack_top(st) && !st->import;
}

static inline __attribute__((always_inline)) int thread_start_object(struct thread *t, struct code *code, uint64_t ns,
								     uint64_t cycles, const struct subscribers *to,
								     enum heard heard)
{
	struct stack *st = t->stack;
	struct function *fn = code->function;
	struct object *o;
	struct frame *f;

	if (!runs_plainly(st, code) || !code->process->identity || t->doing.beginning)
		return THREAD_SLOW;
	o = objects_begin(t->objects, code, ns);
	if (!o)
		return -ENOMEM;
	t->objects->told = true;
	t->doing.stepping = 0;
	name_task(t, o, to, heard);
	f = put_object(t, st, OP_PY_START, code, ns, cycles, heard);
	fn->calls++;
	if (heard != HEARD_TIMES)
		fn->recursive_calls += f->recursive;
	return begin_of(t, st, o, to, heard);
}

/* Most have no loop open: what is held is nothing then. */
static inline bool holds_loops(const struct held_loops *h)
{
	return (uintptr_t)h->outermost | h->instrs;
}

static inline bool has_loops(const struct stack *st)
{
	return st->nloops != stack_top(st)->loops || stack_top(st)->instrs;
}

/* What goes on at that address, where it was suspended; NULL: that is not known, or it may be on the stack. */
static inline struct object *suspended_at(const struct thread *t, const struct stack *st, const struct code *code,
					  uint64_t address)
{
	struct object *next = t->doing.next;
	struct object *o = object_is_at(next, address) ? next : objects_find(t->objects, address);

	if (!o || o->code != code || !o->suspended || o->epoch != t->objects->epoch || o->spans)
		return NULL;
	return stack_top(st)->awaits ? NULL : o;
}

static inline __attribute__((always_inline)) int thread_resume_object(struct thread *t, struct code *code,
								      uint64_t address, uint64_t ns, uint64_t cycles,
								      const struct subscribers *to, enum heard heard)
{
	struct stack *st = t->stack;
	struct function *fn = code->function;
	struct object *o = address && runs_plainly(st, code) ? suspended_at(t, st, code, address) : NULL;
	uint64_t suspended_ns;
	int err = 0;

	if (!o)
		return THREAD_SLOW;
	t->objects->told = true;
	t->doing.beginning = t->doing.stepping = 0;
	t->doing.next = o->awaits;
	object_fetch(o->awaits);
	name_task(t, o, to, heard);
	put_object(t, st, OP_PY_RESUME, code, ns, cycles, heard);
	suspended_ns = ns > o->since_ns ? ns - o->since_ns : 0;
	o->suspended = false;
	if (heard != HEARD_TIMES) {
		fn->suspended_ns += suspended_ns;
		fn->resumes++;
	}
	if (holds_loops(&o->held))
		err = heard == HEARD_TIMES ? loop_resume_times(st, &o->held, ns)
					   : loop_resume_frame(st, &o->held, ns, cycles, suspended_ns);
	return err ?: begin_of(t, st, o, to, heard);
}

/* Its object, if the innermost activation, of this code, ends where calls do; NULL: it does not, or has none. */
static inline struct object *ending(const struct thread *t, const struct stack *st, const struct code *code)
{
	const struct frame *f = stack_top(st);

	if (st->nframes < 2 || f->a.code != code || f[-1].awaits)
		return NULL;
	return (uintptr_t)f->spans | (uintptr_t)f[-1].spans | (uintptr_t)t->outside_spans ? NULL : f->a.object;
}

/* The object with which thread_return_object() does something; NULL: it returns THREAD_SLOW. */
static inline struct object *thread_returning(const struct thread *t, const struct code *code)
{
	return ending(t, t->stack, code);
}

/* Likewise thread_yield_object(). */
static inline struct object *thread_yielding(const struct thread *t, const struct code *code, uint64_t address)
{
	struct object *o = address ? ending(t, t->stack, code) : NULL;

	return o && (!o->address || o->address == address) ? o : NULL;
}

/* Its first yield tells the address. 0, -ENOMEM, or THREAD_SLOW: it is another object that yields. */
static inline int yields(struct thread *t, struct object *o, uint64_t address)
{
	if (o->address == address && address)
		return 0;
	return o->address || !address ? THREAD_SLOW : objects_tell(t->objects, o, address);
}

/* As long as it is suspended. */
static inline void suspend(struct thread *t, struct stack *st, struct object *o, uint64_t ns, uint64_t cycles,
			   enum heard heard)
{
	o->running = false;
	o->suspended = true;
	o->since_ns = ns;
	o->epoch = t->objects->epoch;
	if (!has_loops(st))
		return;
	if (heard == HEARD_TIMES)
		loop_hold_times(st, &o->held, ns);
	else
		loop_hold_frame(st, &o->held, ns, cycles);
}

static inline __attribute__((always_inline)) int thread_yield_object(struct thread *t, struct code *code,
								     uint64_t address, uint64_t ns, uint64_t cycles,
								     const struct subscribers *to, enum heard heard)
{
	struct stack *st = t->stack;
	struct object *o = ending(t, st, code);
	int err = o ? yields(t, o, address) : THREAD_SLOW;

	if (err)
		return err;
	name_task(t, o, to, heard);
	if (subject_is_yielding(&t->doing, stack_top(st), o) || (!o->asked && subject_is_tasks(t, o, to->profile)))
		err = subject_ends(t, st, o, ns, LEAVE_YIELD, to);
	else if (heard == HEARD_TIMES)
		subject_yields_unseen(stack_top(st), o);
	else if (subject_yields_on(&t->doing, stack_top(st)))
		o->eager.step = 0;
	else if (t->doing.yielded || code->coroutine)
		err = subject_yields(t, stack_top(st), o, to->profile);
	else
		o->eager.step = 0;
	suspend(t, st, o, ns, cycles, heard);
	err = err ?: take_off(t, st, stack_pop_inner(st), ns, cycles, LEAVE_YIELD, to, heard);
	thread_link_yields(t, o);
	return err;
}

static inline __attribute__((always_inline)) int return_object(struct thread *t, struct code *code, uint64_t ns,
							       uint64_t cycles, const struct subscribers *to,
							       enum heard heard)
{
	struct stack *st = t->stack;
	struct object *o = ending(t, st, code);
	int err = 0;

	if (!o)
		return THREAD_SLOW;
	name_task(t, o, to, heard);
	t->doing.last.address = 0;
	if (subject_is_ending(stack_top(st), o))
		err = subject_ends(t, st, o, ns, LEAVE_RETURN, to);
	if (st->nloops > stack_top(st)->loops)
		err = err ?: loop_leave_frame(st, heard != HEARD_TIMES);
	err = err ?: take_off(t, st, stack_pop_inner(st), ns, cycles, LEAVE_RETURN, to, heard);
	objects_end(t->objects, o, ns, true);
	return err;
}

static __attribute__((noinline)) int thread_return_object(struct thread *t, struct code *code, uint64_t ns,
							  uint64_t cycles, const struct subscribers *to)
{
	return return_object(t, code, ns, cycles, to, HEARD_EVENTS);
}

/* Where nobody hears of it. */
static __attribute__((noinline)) int thread_return_unheard(struct thread *t, struct code *code, uint64_t ns,
							   uint64_t cycles, const struct subscribers *to)
{
	return return_object(t, code, ns, cycles, to, HEARD_NOTHING);
}

/* Where sinks need only times. */
static __attribute__((noinline)) int thread_return_times(struct thread *t, struct code *code, uint64_t ns,
							 const struct subscribers *to)
{
	return return_object(t, code, ns, 0, to, HEARD_TIMES);
}
