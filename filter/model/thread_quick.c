// SPDX-License-Identifier: MIT
/* Each of these is what thread.c does with a sample, if nothing else can be concerned; else it is left to that. */
#include "thread_quick.h"

#include "gil.h"
#include "loop.h"
#include "thread_plain.h"

bool thread_is_quick(const struct thread *t, uint32_t interpreter, const struct subscribers *to)
{
	return (!to->first.sample || t->quiet_ns) && !t->early && t->holds_gil && t->stack &&
	       t->stack->interpreter == interpreter;
}

static inline bool is_innermost(const struct stack *st, const struct code *code)
{
	return stack_top(st) && stack_top(st)->a.code == code;
}

static inline uint64_t object_told(const struct code_event *e)
{
	return e->op == OP_PY_RESUME || e->op == OP_PY_YIELD ? *e->object : 0;
}

/*
 * Of a generator or coroutine, but not as in thread_objects.c. Only that such events do not end a run is quick: sinks
 * that hear of samples hear of this one. By value: the caller's event need not lie in memory for it.
 */
static COLD int act_on_object(struct thread *t, struct code_event e, const struct subscribers *to)
{
	struct sample s = {
		.op = e.op,
		.pid = t->pid,
		.tid = t->tid,
		.interpreter = t->stack->interpreter,
		.time = e.time,
		.cycles = e.cycles,
		.code = e.code,
		.offset = word_offset(&e),
		.target = SAMPLE_NOWHERE,
		.whose = object_told(&e),
	};
	int err;

	if (!e.code->generator)
		return THREAD_SLOW;
	thread_identify(t, &s, to->profile);
	err = thread_tell(t, &s, to);
	t->passed--; /* it had a sample: take() counts it */
	return err ?: thread_act(t, t->stack, &s, to);
}

/* Sinks that hear of samples want each of these. */
static inline bool is_told(const struct subscribers *to)
{
	return to->first.sample;
}

static inline int begin(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	int err;

	if (!e->code->generator)
		return thread_enter_plain(t, t->stack, e->code, e->time, e->cycles, to);
	err = is_told(to) ? THREAD_SLOW : thread_start_object(t, e->code, e->time, e->cycles, to);
	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
}

static inline int go_on(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	int err = is_told(to) ? THREAD_SLOW : thread_resume_object(t, e->code, *e->object, e->time, e->cycles, to);

	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
}

static inline int yield(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	int err = is_told(to) ? THREAD_SLOW : thread_yield_object(t, e->code, *e->object, e->time, e->cycles, to);

	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
}

static inline int end(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	int err = THREAD_SLOW;

	if (e->code->generator && !is_told(to))
		err = thread_return_object(t, e->code, e->time, e->cycles, to);
	if (e->code->generator)
		return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
	if (!is_innermost(t->stack, e->code))
		return THREAD_SLOW;
	t->doing.last.address = 0;
	return thread_leave_plain(t, t->stack, e->time, e->cycles, to);
}

static inline int call(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	int err;

	if (!is_innermost(t->stack, e->code))
		return THREAD_SLOW;
	if (!e->callee)
		return 0;
	err = thread_enter_plain(t, t->stack, e->callee, e->time, e->cycles, to);
	if (!err)
		stack_top(t->stack)->called_at = word_offset(e);
	return err;
}

/* A C function's, which the innermost activation called. */
static inline int end_c(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	const struct frame *f = stack_top(t->stack);

	if (t->stack->nframes < 2 || f->called_at != word_offset(e) || f[-1].a.code != e->code)
		return THREAD_SLOW;
	return thread_leave_plain(t, t->stack, e->time, e->cycles, to);
}

/* Somebody wants each trip. */
static __attribute__((noinline)) int end_trip(struct stack *st, struct code_event e, int64_t offset, int64_t target,
					      const struct subscribers *to)
{
	const struct sample s = {
		.op = OP_JUMP, .time = e.time, .cycles = e.cycles, .code = e.code, .offset = offset, .target = target
	};

	return thread_back_edge(st, &s, to);
}

static inline int jump(struct thread *t, const struct code_event *e, int64_t offset, int64_t target,
		       const struct subscribers *to)
{
	struct stack *st = t->stack;
	int err;

	if (!is_innermost(st, e->code))
		return THREAD_SLOW;
	if (target > offset)
		return 0;
	if (stack_top(st)->jumping)
		return THREAD_SLOW;
	if (to->first.iterate)
		return end_trip(st, *e, offset, target, to);
	err = loop_jump(st, e->code, offset, target, e->time, e->cycles);
	return err == LOOP_NONE ? 0 : err;
}

static inline bool is_only_stack(const struct thread *t)
{
	return t->stack == t->stacks && !t->stack->next;
}

/*
 * gil_until() of a thread that has the GIL, and in whose quick events nobody begins or ends to wait for it: it has to
 * be told only before another function is innermost, and at last.
 */
static inline void held_gil(struct thread *t, uint64_t ns)
{
	const struct stack *st = t->stack;

	if (!t->gil->waiting)
		return;
	if (is_only_stack(t) && stack_top(st) && !stack_top(st)->a.code->c)
		gil_ran(t->gil, ns, &t->gil_held_ns, &stack_top(st)->a.code->function->gil_held_ns);
	else
		gil_until(t->gil, ns);
}

/* The three that come most often are tested for before all others. */
static inline int act(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	if (e->op == OP_JUMP)
		return jump(t, e, word_offset(e), word_target(e), to);
	held_gil(t, e->time);
	if (e->op == OP_PY_START)
		return begin(t, e, to);
	if (e->op == OP_PY_RETURN)
		return end(t, e, to);
	switch (e->op) {
	case OP_PY_RESUME:
		return go_on(t, e, to);
	case OP_PY_YIELD:
		return yield(t, e, to);
	case OP_C_RETURN:
		return end_c(t, e, to);
	case OP_CALL:
		return call(t, e, to);
	case OP_BRANCH:
	case OP_BRANCH_LEFT:
	case OP_BRANCH_RIGHT:
	case OP_STOP_ITERATION:
		return is_innermost(t->stack, e->code) ? 0 : THREAD_SLOW;
	default:
		return THREAD_SLOW;
	}
}

struct quick {
	struct thread *thread;
	uint64_t until_ns;
	const struct subscribers *to;
};

/* May an event at that time be quick? */
static inline bool is_in_time(const struct quick *q, uint64_t ns, uint64_t cycles)
{
	return ns >= q->thread->last_ns && cycles >= q->thread->last_cycles && ns < q->until_ns;
}

static inline void count(struct thread *t, const struct code_event *e, const struct subscribers *to)
{
	e->code->function->events[e->op]++;
	to->profile->events[e->op]++;
	t->last_ns = e->time;
	t->last_cycles = e->cycles;
	t->passed++;
}

/* PY_START and PY_RETURN, in one step, if the next word is that and nothing is concerned but totals. */
static inline __attribute__((always_inline)) int call_at_once(const struct quick *q, const struct code_event *e,
							      const struct words_ahead *w)
{
	struct thread *t = q->thread;
	struct function *fn = e->code->function;
	const struct stretch s = { e->time, e->cycles, w->part->w->ns[w->part->at + 1],
				   word_cycles(w->part, w->part->at + 1) };

	if (s.end_ns < s.ns || s.end_cycles < s.cycles || s.end_ns >= q->until_ns)
		return THREAD_SLOW;
	if (t->gil->waiting && (!is_only_stack(t) || e->code->c))
		return THREAD_SLOW;
	held_gil(t, s.ns);
	if (t->gil->waiting)
		gil_ran(t->gil, s.end_ns, &t->gil_held_ns, &fn->gil_held_ns);
	fn->events[OP_PY_START]++;
	fn->events[OP_PY_RETURN]++;
	q->to->profile->events[OP_PY_START]++;
	q->to->profile->events[OP_PY_RETURN]++;
	t->last_ns = s.end_ns;
	t->last_cycles = s.end_cycles;
	t->passed += 2;
	return thread_call_plain(t, t->stack, e->code, &s, q->to) ?: WORDS_TWO;
}

/* May it be one of those? */
static inline bool is_at_once(const struct thread *t, const struct code_event *e, const struct words_ahead *w)
{
	return word_ahead_is(w, OP_PY_RETURN, e->code) && !e->code->generator && returns_plainly(t, t->stack, e->code);
}

static inline __attribute__((always_inline)) int take(void *quick, const struct code_event *e,
						      const struct words_ahead *w)
{
	const struct quick *q = quick;
	struct thread *t = q->thread;
	int err = THREAD_SLOW;

	if (!e->code->function || !is_in_time(q, e->time, e->cycles))
		return THREAD_SLOW;
	if (e->op == OP_PY_START && is_at_once(t, e, w))
		err = call_at_once(q, e, w);
	if (err != THREAD_SLOW)
		return err;
	err = act(t, e, q->to);
	if (!err)
		count(t, e, q->to);
	return err;
}

/* --- other words */

static struct code_event event_at(const struct word_part *p, uint32_t at)
{
	return (struct code_event){ .bits = p->w->bits[at], .time = p->w->ns[at], .cycles = word_cycles(p, at) };
}

/* A SUBJECT word. */
static int take_subject(const struct quick *q, const struct word_part *p, uint32_t at, uint64_t payload)
{
	const struct code_event e = event_at(p, at);
	struct thread *t = q->thread;

	if (is_told(q->to) || q->to->first.passed)
		return 0;
	if (!is_in_time(q, e.time, e.cycles) || !subject_is_step(marker_subject_what(payload)))
		return 0;
	held_gil(t, e.time);
	q->to->profile->events[OP_EXTENSION]++;
	q->to->profile->known_kinds++;
	return subject_steps(t, t->stack, payload, e.time, q->to->profile) ?: 1;
}

/* A WIDE word and the JUMP behind it: the back-edge of a long loop. */
static int take_wide(const struct quick *q, const struct word_stream *l, const struct word_part *p, uint32_t at,
		     uint64_t wide)
{
	struct thread *t = q->thread;
	struct code_event e;
	int err;

	if (at + 1 == p->end)
		return 0;
	e = event_at(p, at + 1);
	if (marker_seq(e.bits) != ((marker_seq(wide) + 1) & MARKER_SEQ_MASK) || marker_op(e.bits) != OP_JUMP)
		return 0;
	e.op = OP_JUMP;
	e.code = codes_own(l->process, marker_code(e.bits));
	if (!e.code || !e.code->function || !is_in_time(q, e.time, e.cycles))
		return 0;
	err = jump(t, &e, word_offset(&e) | marker_wide_offset(wide) * 2, (int64_t)marker_wide_dest(wide) * 2, q->to);
	if (!err)
		count(t, &e, q->to);
	return err == THREAD_SLOW ? 0 : err ?: 2;
}

static __attribute__((noinline)) int take_other(void *quick, const struct word_stream *l, const struct word_part *p,
						uint32_t at, uint64_t bits)
{
	if (word_is_subject(l, bits))
		return take_subject(quick, p, at, marker_payload(bits));
	return marker_op(bits) == OP_WIDE ? take_wide(quick, l, p, at, bits) : 0;
}

int thread_quick(struct thread *t, uint64_t until_ns, struct word_stream *l, struct word_part *p,
		 const struct subscribers *to)
{
	uint64_t quiet_ns = to->first.sample ? t->quiet_ns : UINT64_MAX;
	struct quick q = { t, until_ns < quiet_ns ? until_ns : quiet_ns, to };
	int err = word_stream_events(l, p, &q, take, take_other);

	held_gil(t, t->last_ns);
	return err;
}
