/* SPDX-License-Identifier: MIT */
/*
 * thread_parts.h - what the files of thread.h share: thread.c and thread_*.c. No other file includes it.
 *
 * thread.c calls the others; of them only thread_quick.c calls it. Functions that return an int return 0, -ENOMEM, or
 * what a sink returned. `s` is the sample that the thread is at: its time is not before last_ns, except in
 * thread_identify().
 */
#pragma once

#include <errno.h>

#include "base/cold.h"
#include "shared/marker.h"
#include "thread.h"
#include "thread_quick.h"

/* --- any file's */

/* Of the interpreter, made if there is none yet. NULL: no memory. */
static inline struct stack *stack_of(struct thread *t, uint32_t interpreter)
{
	return t->stack && t->stack->interpreter == interpreter ? t->stack : thread_stack(t, interpreter);
}

/* The generator or coroutine whose activation begins or ends; NULL: not known, or there is none. */
static inline struct object *object_of(const struct sample *s)
{
	return s->code->generator && sample_op_effect(s->op) != STACK_KEEP ? s->generator : NULL;
}

static inline void stand_at(struct thread *t, const struct sample *s)
{
	t->last_ns = s->time;
	t->last_cycles = s->cycles;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* --- thread_stacks.c */

/* Takes the interpreter's stack off the thread; the caller owns it. NULL: there is none. */
struct stack *thread_unlink_stack(struct thread *t, uint32_t interpreter);

/* The thread has the greenlet's stack from here on, or an empty one for the interpreter. NULL: no memory. */
struct stack *thread_link_stack(struct thread *t, struct greenlet *g, uint32_t interpreter);

/* What will become of the activations of a greenlet that is away is not known. */
void thread_lose_stack(struct thread *t, struct greenlet *g);

void thread_free_stacks(struct thread *t);

/* --- thread.c */

/* Sinks hear of a sample, and of the events before it that had none. */
int thread_tell(struct thread *t, const struct sample *s, const struct subscribers *to);

/* The same of those at the thread's end. */
int thread_tell_passed(struct thread *t, const struct subscribers *to);

/* A back-edge in the innermost activation, whose code is the sample's. */
int thread_back_edge(struct stack *st, const struct sample *s, const struct subscribers *to);

/* What an event of code, which is counted, does to the stack of its interpreter, the thread's last one. */
int thread_act(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to);

/* --- thread_activations.c */

/* An activation of the sample's code begins; adopted: it began before, unseen. */
int thread_enter(struct thread *t, struct stack *st, const struct sample *s, bool adopted,
		 const struct subscribers *to);

/* The innermost activation, which has none yet, is this object's. 0 or -ENOMEM. */
int thread_run_object(struct stack *st, struct object *o, const struct sample *s);

/* Ends the innermost activation; there is one. */
int thread_leave(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		 const struct subscribers *to);

/* The frame, the only one of its stack, has ended: an interpreter that runs inside another is called by it. */
COLD void thread_charge_outer(const struct thread *t, const struct frame *f, uint64_t ns, uint64_t cycles);

/*
 * The innermost activation, which has been taken off the stack, has a line that runs, ended in an import, or was the
 * import's own; or exceptions are on their way, or have been.
 */
int thread_end_seldom(struct stack *s, struct frame *f, uint64_t ns, uint64_t cycles, enum leave_how how);

/* The same, if the end was not seen. */
COLD int thread_close(struct thread *t, struct stack *s, uint64_t ns, uint64_t cycles, enum leave_how how,
		      const struct subscribers *to);

/* Of all stacks, at the time of the last sample. */
int thread_close_all(struct thread *t, enum leave_how how, const struct subscribers *to);

/*
 * Activations above `keep`, or all if it is NULL, ended before the sample, and that was not seen: they are closed, and
 * reported if there are any. No marker is missing: only the sequence can show that.
 */
COLD int thread_close_above(struct thread *t, struct stack *st, const struct frame *keep, const struct sample *s,
			    const struct subscribers *to);

/* --- thread_identity.c */

/*
 * Sets which object the sample is about. What PY_RETURN and PY_UNWIND end is innermost. But an exception that strikes
 * at a RESUME may end something that no event has named.
 */
void thread_identify(struct thread *t, struct sample *s, struct profile *p);

/* --- thread_thrown.c */

/* A PY_THROW: what awaits its object is put on the stack, where that is known. */
int thread_thrown(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to);

/* What is at that address has yielded; so has what was put on the stack for it, and has not gone on. */
int thread_yielded(struct thread *t, struct stack *st, uint64_t address, const struct sample *s,
		   const struct subscribers *to);

/* The object has yielded, and is suspended: it awaits what has yielded last, with nothing else since. */
static inline void thread_link_yields(struct thread *t, struct object *by)
{
	struct object *o = t->doing.last.address ? t->doing.last.object : NULL;
	bool same = object_is_at(o, t->doing.last.address) && o->serial == t->doing.last.serial;

	by->awaiter.address = 0;
	by->awaits = NULL;
	if (same && object_is_suspended(t->objects, o) && o != by) {
		o->awaiter = (struct awaiter){ by->address, by->serial, by->since_ns };
		by->awaits = o;
	}
	t->doing.last = (struct last_yield){ by, by->address, by->serial };
}

/* --- thread_exceptions.c */

/* Did an exception strike at a RESUME, in an activation that no event has begun? */
bool thread_is_struck(const struct sample *s);

/* Keeps an EXCEPTION word for the RAISE that follows. */
void thread_take_exception(struct thread *t, const struct sample *s);

/* The exception that the last EXCEPTION word told of is raised in the innermost activation. */
int thread_raise_here(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to);

/* The innermost activation handles one; the stack has flights. */
int thread_handle_here(struct stack *st, const struct sample *s, const struct subscribers *to);

/* --- thread_spans.c */

/* What the program says itself. */
int thread_take_label(struct thread *t, const struct sample *s, const struct subscribers *to);

/* A SUBJECT word of a request: it is shown as a span is. */
COLD int thread_take_request(struct thread *t, const struct sample *s, bool begins, const struct subscribers *to);

/* The spans of the innermost activation, which ends or is suspended. */
COLD int thread_leave_spans(const struct thread *t, struct stack *st, uint64_t ns, uint64_t cycles,
			    const struct subscribers *to);

/* Spans outside of all activations are in the innermost one, which was open before them. */
COLD int thread_adopt_spans(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to);

/* The innermost activation, which has begun or goes on, is in its spans. */
COLD int thread_enter_spans(const struct thread *t, struct stack *st, const struct sample *s,
			    const struct subscribers *to);

/* What goes on when the innermost activation has ended may be in some that were over before. */
COLD int thread_end_spans(struct thread *t, uint64_t ns, uint64_t cycles, const struct subscribers *to);

/* Spans outside of all activations end with the last sample. */
int thread_lose_spans(struct thread *t, const struct subscribers *to);

/* All spans that are open: their ends are not seen. */
int thread_lose_wholes(struct thread *t, const struct subscribers *to);

/* --- thread_greenlets.c */

/* A SUBJECT word: for whom the thread works from here on, or which greenlet runs. */
int thread_take_subject(struct thread *t, const struct sample *s, const struct subscribers *to);

/* Which greenlet runs, and where the others are, is not known any more. */
void thread_lose_greenlets(struct thread *t);

/* --- thread_time.c */

/* A CPU word: the thread was taken off its CPU, or put on one. */
int thread_take_cpu(struct thread *t, const struct sample *s, const struct subscribers *to);

/* The thread's time without an activation ends: since the last one, or since the thread began. */
void thread_end_outside(const struct thread *t, uint64_t ns, uint64_t cycles, struct profile *p);

/* Markers are missing from the last sample to this one. */
int thread_gap(struct thread *t, const struct sample *s, const struct subscribers *to);

/* The thread's tracing ended at its last sample and begins again at this one. */
int thread_restart(struct thread *t, const struct sample *s, const struct subscribers *to);

/* A segment of a flight recorder begins or ends. */
int thread_segment(struct thread *t, const struct sample *s, const struct subscribers *to);

/* --- thread_words.c */

/* A word that is no event of code. */
int thread_extension(struct thread *t, const struct sample *s, const struct subscribers *to);
