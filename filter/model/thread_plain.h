/* SPDX-License-Identifier: MIT */
/*
 * thread_plain.h - how nearly all activations begin and end: calls and returns of code that is no generator's, called
 * by what is on the same stack, in no import and in no span. Inline, because most events are one of the two.
 *
 * thread_quick.c includes it, and thread_activations.c, which has all others. THREAD_SLOW: it is one of the others;
 * nothing is done.
 */
#pragma once

#include "loop.h"
#include "thread_parts.h"

/*
 * What sinks hear of without a sample. It is known where these functions are inlined, so that what nobody hears of, or
 * has a use for, costs nothing. HEARD_TIMES: nothing, and they need only times (sink.h); there cycles are 0.
 */
enum heard { HEARD_TIMES, HEARD_NOTHING, HEARD_ACTIVATIONS, HEARD_EVENTS };

static inline __attribute__((always_inline)) void add_totals(const struct frame *f, uint64_t ns, uint64_t cycles,
							     enum leave_how how, enum heard heard)
{
	struct function *fn = f->a.code->function;

	if (heard == HEARD_TIMES) {
		fn->self_ns += ns - f->a.callee_ns;
		return;
	}
	function_ran(fn, ns, cycles, f->a.callee_ns, f->a.callee_cycles, f->recursive);
	fn->unfinished += how == LEAVE_GAP || how == LEAVE_END;
}

/* What is on one stack began in its order: the caller, if it is on this one, before the callee. */
static inline __attribute__((always_inline)) void charge_caller(const struct thread *t, struct frame *caller,
								const struct frame *f, uint64_t ns, uint64_t cycles,
								enum heard heard)
{
	if (!caller) {
		thread_charge_outer(t, f, ns, cycles);
		return;
	}
	caller->a.callee_ns += ns - f->a.start_ns;
	if (heard != HEARD_TIMES)
		caller->a.callee_cycles += cycles - f->a.start_cycles;
}

/* The innermost activation, which was in no loop any more, has been taken off the stack: it is counted. */
static inline __attribute__((always_inline)) int take_off(struct thread *t, struct stack *s, struct frame *f,
							  uint64_t ns, uint64_t cycles, enum leave_how how,
							  const struct subscribers *to, enum heard heard)
{
	struct frame *caller = stack_top(s);
	int err = 0;

	if ((uintptr_t)f->line | (uintptr_t)s->import | (uintptr_t)s->flights) /* at once: nearly always all are 0 */
		err = thread_end_seldom(s, f, ns, cycles, how);
	add_totals(f, ns - f->a.start_ns, heard == HEARD_TIMES ? 0 : cycles - f->a.start_cycles, how, heard);
	charge_caller(t, caller, f, ns, cycles, heard);
	if (!--t->depth) {
		t->empty_ns = ns;
		t->empty_cycles = cycles;
	}
	return err || heard <= HEARD_NOTHING ? err : SUBSCRIBERS_CALL(to, leave, &f->a, how, ns, cycles);
}

/*
 * Neither the end of the innermost activation, nor what it goes back to, concerns anything but stack, totals, and the
 * step of a task or job that it is.
 */
static inline bool ends_plainly(const struct thread *t, const struct stack *s)
{
	const struct frame *f = stack_top(s);

	/* At once: nearly always all of them are 0. */
	return s->nframes > 1 &&
	       !((uintptr_t)f->a.object | (uintptr_t)f->spans | (uintptr_t)f[-1].spans | (uintptr_t)t->outside_spans);
}

static inline __attribute__((always_inline)) int thread_leave_plain(struct thread *t, struct stack *s, uint64_t ns,
								    uint64_t cycles, const struct subscribers *to,
								    enum heard heard)
{
	int err = 0;

	if (!ends_plainly(t, s))
		return THREAD_SLOW;
	if (stack_top(s)->step)
		subject_leave_step(t, s);
	if (s->nloops > stack_top(s)->loops)
		err = loop_leave_frame(s, heard != HEARD_TIMES);
	return err ?: take_off(t, s, stack_pop_inner(s), ns, cycles, LEAVE_RETURN, to, heard);
}

/* For sinks that tell requests and tasks apart. */
static inline void note_subjects(const struct thread *t, struct activation *a, const struct subscribers *to)
{
	if (to->first.enter && to->profile->requests.begun)
		a->request = subject_request(t, to->profile);
	if (to->first.enter && to->profile->tasks.told)
		a->task = subject_task(t, to->profile);
}

static inline int tell_enter(const struct thread *t, struct activation *a, const struct subscribers *to)
{
	note_subjects(t, a, to);
	return SUBSCRIBERS_CALL(to, enter, a);
}

/* A call of what has been called before on this stack, in which nothing else than calls begins. */
static inline bool begins_plainly(const struct thread *t, const struct stack *st, const struct code *code)
{
	const struct function *fn = code->function;

	return fn && fn->stack == st && stack_has_room(st) && stack_top(st) && !st->import &&
	       !subject_is_concerned(&t->doing, NULL, code);
}

static inline void count_call(struct thread *t, struct function *fn, bool recursive, enum heard heard)
{
	if (!t->cpu.known)
		fn->cpu_unknown = true;
	fn->calls++;
	if (heard != HEARD_TIMES)
		fn->recursive_calls += recursive;
	t->doing.yielded = NULL;
	t->doing.last.address = 0;
}

static inline __attribute__((always_inline)) int thread_enter_plain(struct thread *t, struct stack *st,
								    struct code *code, uint64_t ns, uint64_t cycles,
								    const struct subscribers *to, enum heard heard)
{
	const struct sample s = {
		.op = OP_PY_START, .pid = t->pid, .tid = t->tid, .code = code, .time = ns, .cycles = cycles
	};
	struct function *fn = code->function;
	struct frame *f;

	if (!begins_plainly(t, st, code))
		return THREAD_SLOW;
	f = stack_put(st, fn->activity, &s, heard == HEARD_TIMES);
	count_call(t, fn, f->recursive, heard);
	t->depth++;
	return heard <= HEARD_NOTHING ? 0 : tell_enter(t, &f->a, to);
}

/* What runs from one event to the next. */
struct stretch {
	uint64_t ns, cycles, end_ns, end_cycles;
};

/* A call of which nothing else is known than that. */
static inline struct activation thread_called(const struct thread *t, const struct stack *st, struct code *code,
					      const struct stretch *s, const struct subscribers *to)
{
	struct activation a;

	/* Every member: clearing all of it is `rep stos`, 16 ns; stores take 4 to 7 (AMD EPYC, 2026-11-29). */
	activation_clear(&a);
	a.pid = t->pid;
	a.tid = t->tid;
	a.interpreter = st->interpreter;
	a.depth = st->nframes;
	a.greenlet = st->greenlet;
	a.code = code;
	a.op = OP_PY_START;
	a.start_ns = s->ns;
	a.start_cycles = s->cycles;
	note_subjects(t, &a, to);
	return a;
}

/* Sinks hear of it. */
static inline int tell_call(const struct thread *t, const struct stack *st, struct code *code, const struct stretch *s,
			    const struct subscribers *to)
{
	const struct activation a = thread_called(t, st, code, s, to);

	return subscribers_call(to, &a, s->end_ns, s->end_cycles);
}

/* May a function that has been called before on this stack be called, and return at once, without a frame? */
static inline bool returns_plainly(const struct thread *t, const struct stack *st, const struct code *code)
{
	const struct frame *caller = stack_top(st);

	/* At once, as in ends_plainly(). */
	return code->function && code->function->stack == st && caller &&
	       !((uintptr_t)caller->spans | (uintptr_t)t->outside_spans | (uintptr_t)st->import |
		 (uintptr_t)st->flights | (uintptr_t)t->doing.unnamed);
}

/* thread_enter_plain() and thread_leave_plain(), with no event in between. The thread returns_plainly(). */
static inline __attribute__((always_inline)) int thread_call_plain(struct thread *t, struct stack *st,
								   struct code *code, const struct stretch *s,
								   const struct subscribers *to, enum heard heard)
{
	struct function *fn = code->function;
	struct frame *caller = stack_top(st);
	uint64_t ns = s->end_ns - s->ns, cycles = s->end_cycles - s->cycles;
	bool recursive = fn->activity->depth > 0;

	count_call(t, fn, recursive, heard);
	caller->a.callee_ns += ns;
	if (heard == HEARD_TIMES) {
		fn->self_ns += ns;
		return 0;
	}
	function_ran(fn, ns, cycles, 0, 0, recursive);
	caller->a.callee_cycles += cycles;
	return heard != HEARD_NOTHING && to->first.call ? tell_call(t, st, code, s, to) : 0;
}
