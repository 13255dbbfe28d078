// SPDX-License-Identifier: MIT
/* Each of these is what thread.c does with a sample, if nothing else can be concerned; else it is left to that. */
#include "thread_quick.h"

#include "gil.h"
#include "loop.h"
#include "thread_objects.h"
#include "thread_plain.h"
#include "thread_row.h"

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
 * Of a generator or coroutine, but not as in thread_objects.h. Only that such events do not end a run is quick: sinks
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

	if (!e.code->generator || !e.code->function)
		return THREAD_SLOW;
	thread_identify(t, &s, to->profile);
	err = thread_tell(t, &s, to);
	t->passed -= to->first.passed != NULL; /* it had a sample: take() counts it */
	return err ?: thread_act(t, t->stack, &s, to);
}

/*
 * What is told (HEARD_EVENTS) is sure to be quick: sinks would be told of it twice. It is known where all of this is
 * inlined, so that it costs nothing if nobody hears of it.
 */
#define ALWAYS static inline __attribute__((always_inline))

static inline struct sample plain_of(const struct thread *t, const struct code_event *e, int64_t offset)
{
	return (struct sample){
		.op = e->op,
		.pid = t->pid,
		.tid = t->tid,
		.time = e->time,
		.code = e->code,
		.offset = offset,
		.target = SAMPLE_NOWHERE,
	};
}

static __attribute__((noinline)) int tell_plain(const struct thread *t, struct code_event e, int64_t offset,
						int64_t target, const struct subscribers *to)
{
	struct sample s = plain_of(t, &e, offset);

	s.target = target;
	s.callee = e.callee;
	return SUBSCRIBERS_CALL(to, plain, &s);
}

/* Of a generator or coroutine. */
static __attribute__((noinline)) int tell_object(const struct thread *t, struct code_event e, struct object *o,
						 const struct subscribers *to)
{
	struct sample s = plain_of(t, &e, word_offset(&e));

	s.generator = o;
	return SUBSCRIBERS_CALL(to, plain, &s);
}

/* A call of a function of Python's, or of C. */
ALWAYS int enter(struct thread *t, const struct code_event *e, struct code *code, const struct subscribers *to,
		 enum heard heard)
{
	int err = 0;

	if (heard == HEARD_EVENTS && !begins_plainly(t, t->stack, code))
		return THREAD_SLOW;
	if (heard == HEARD_EVENTS)
		err = tell_plain(t, *e, word_offset(e), SAMPLE_NOWHERE, to);
	return err ?: thread_enter_plain(t, t->stack, code, e->time, e->cycles, to, heard);
}

ALWAYS int leave(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	int err = 0;

	if (heard == HEARD_EVENTS && !ends_plainly(t, t->stack))
		return THREAD_SLOW;
	if (heard == HEARD_EVENTS)
		err = tell_plain(t, *e, word_offset(e), SAMPLE_NOWHERE, to);
	return err ?: thread_leave_plain(t, t->stack, e->time, e->cycles, to, heard);
}

/* Sinks that hear of samples want each of these. */
static inline bool is_told(const struct subscribers *to)
{
	return to->first.sample;
}

/* Unless they are told of it without. */
static inline bool needs_sample(const struct subscribers *to, enum heard heard)
{
	return heard > HEARD_NOTHING && is_told(to) && !to->only_plain;
}

/* It has been put on the stack. */
ALWAYS int tell_begun(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	return heard == HEARD_EVENTS ? tell_object(t, *e, stack_top(t->stack)->a.object, to) : 0;
}

ALWAYS int begin(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	int err;

	if (!e->code->generator)
		return enter(t, e, e->code, to, heard);
	err = needs_sample(to, heard) ? THREAD_SLOW : thread_start_object(t, e->code, e->time, e->cycles, to, heard);
	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err ?: tell_begun(t, e, to, heard);
}

ALWAYS int go_on(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	int err = needs_sample(to, heard) ? THREAD_SLOW
					  : thread_resume_object(t, e->code, *e->object, e->time, e->cycles, to, heard);

	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err ?: tell_begun(t, e, to, heard);
}

ALWAYS int yield(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	struct object *o = heard == HEARD_EVENTS && !needs_sample(to, heard) ? thread_yielding(t, e->code, *e->object)
									     : NULL;
	int err = needs_sample(to, heard) || (heard == HEARD_EVENTS && !o) ? THREAD_SLOW : 0;

	if (!err && heard == HEARD_EVENTS)
		err = tell_object(t, *e, o, to);
	err = err ?: thread_yield_object(t, e->code, *e->object, e->time, e->cycles, to, heard);
	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
}

static inline int end_object(struct thread *t, const struct code_event *e, const struct subscribers *to,
			     enum heard heard)
{
	struct object *o = heard == HEARD_EVENTS && !needs_sample(to, heard) ? thread_returning(t, e->code) : NULL;
	int err = needs_sample(to, heard) || (heard == HEARD_EVENTS && !o) ? THREAD_SLOW : 0;

	if (!err && heard == HEARD_EVENTS)
		err = tell_object(t, *e, o, to);
	if (heard == HEARD_TIMES)
		err = thread_return_times(t, e->code, e->time, to);
	else if (heard == HEARD_NOTHING)
		err = thread_return_unheard(t, e->code, e->time, e->cycles, to);
	else
		err = err ?: thread_return_object(t, e->code, e->time, e->cycles, to);
	return err == THREAD_SLOW ? act_on_object(t, *e, to) : err;
}

/* A function that so often in a row did not return at once is not expected to, until it does. */
#define AT_ONCE 3

/* The innermost activation returns: does the next one of its function do so at once? It probably does what this did. */
static inline void foresee_return(const struct thread *t, struct function *fn)
{
	if (stack_top(t->stack)->a.start_ns == t->last_ns)
		fn->at_once = AT_ONCE;
}

ALWAYS int end(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	if (e->code->generator)
		return end_object(t, e, to, heard);
	if (!is_innermost(t->stack, e->code))
		return THREAD_SLOW;
	t->doing.last.address = 0;
	if (heard != HEARD_EVENTS)
		foresee_return(t, e->code->function);
	return leave(t, e, to, heard);
}

/* Nothing changes. */
ALWAYS int pass(struct thread *t, const struct code_event *e, int64_t target, const struct subscribers *to,
		enum heard heard)
{
	if (!is_innermost(t->stack, e->code))
		return THREAD_SLOW;
	return heard == HEARD_EVENTS ? tell_plain(t, *e, word_offset(e), target, to) : 0;
}

ALWAYS int call(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	int err;

	if (!e->callee)
		return pass(t, e, SAMPLE_NOWHERE, to, heard);
	if (!is_innermost(t->stack, e->code))
		return THREAD_SLOW;
	err = enter(t, e, e->callee, to, heard);
	if (!err)
		stack_top(t->stack)->called_at = word_offset(e);
	return err;
}

/* A C function's, which the innermost activation called. */
ALWAYS int end_c(struct thread *t, const struct code_event *e, const struct subscribers *to, enum heard heard)
{
	const struct frame *f = stack_top(t->stack);

	if (t->stack->nframes < 2 || f->called_at != word_offset(e) || f[-1].a.code != e->code)
		return THREAD_SLOW;
	return leave(t, e, to, heard);
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

ALWAYS int jump(struct thread *t, const struct code_event *e, int64_t offset, int64_t target,
		const struct subscribers *to, enum heard heard)
{
	struct stack *st = t->stack;
	int err = 0;

	if (!is_innermost(st, e->code) || (target <= offset && stack_top(st)->jumping))
		return THREAD_SLOW;
	if (heard == HEARD_EVENTS)
		err = tell_plain(t, *e, offset, target, to);
	if (err || target > offset)
		return err;
	if (heard > HEARD_NOTHING && to->first.iterate)
		return end_trip(st, *e, offset, target, to);
	err = heard == HEARD_TIMES ? loop_jump_times(st, e->code, offset, target, e->time)
				   : loop_jump(st, e->code, offset, target, e->time, e->cycles);
	return err == LOOP_NONE ? 0 : err;
}

/*
 * gil_until() of a thread that has the GIL, and in whose quick events nobody begins or ends to wait for it: it has to
 * be told only before another function is innermost, and at last.
 */
static __attribute__((noinline)) void waited_for_gil(struct thread *t, uint64_t ns)
{
	const struct stack *st = t->stack;

	if (row_is_only_stack(t) && stack_top(st) && !stack_top(st)->a.code->c)
		gil_ran(t->gil, ns, &t->gil_held_ns, &stack_top(st)->a.code->function->gil_held_ns);
	else
		gil_until(t->gil, ns);
}

static inline void held_gil(const struct quick *q, uint64_t ns)
{
	if (q->waited_for)
		waited_for_gil(q->thread, ns);
}

/* Those that come most often are tested for before all others. */
ALWAYS int act(struct quick *q, const struct code_event *e, enum heard heard)
{
	struct thread *t = q->thread;
	const struct subscribers *to = q->to;

	if (e->op == OP_JUMP)
		return jump(t, e, word_offset(e), word_target(e), to, heard);
	q->in_row = 0;
	held_gil(q, e->time);
	if (e->op == OP_PY_START)
		return begin(t, e, to, heard);
	if (e->op == OP_PY_RETURN)
		return end(t, e, to, heard);
	if (e->op == OP_PY_RESUME)
		return go_on(t, e, to, heard);
	if (e->op == OP_PY_YIELD)
		return yield(t, e, to, heard);
	switch (e->op) {
	case OP_C_RETURN:
		return end_c(t, e, to, heard);
	case OP_CALL:
		return call(t, e, to, heard);
	case OP_BRANCH:
	case OP_BRANCH_LEFT:
	case OP_BRANCH_RIGHT:
		return pass(t, e, word_target(e), to, heard);
	case OP_STOP_ITERATION:
		return pass(t, e, SAMPLE_NOWHERE, to, heard);
	default:
		return THREAD_SLOW;
	}
}

/*
 * May an event at that time be quick? ticks: cycles are those of a clock, the thread's last ones too, which thus are
 * not less than these where its time is not.
 */
static inline bool is_in_time(const struct quick *q, uint64_t ns, uint64_t cycles, bool ticks)
{
	return ns >= q->thread->last_ns && (ticks || cycles >= q->thread->last_cycles) && ns < q->until_ns;
}

static inline void count(const struct quick *q, const struct code_event *e, enum heard heard)
{
	struct thread *t = q->thread;

	q->events[e->op]++;
	t->last_ns = e->time;
	if (heard == HEARD_TIMES)
		return;
	e->code->function->events[e->op]++;
	t->last_cycles = e->cycles;
	t->passed += heard != HEARD_NOTHING;
}

/* PY_START and PY_RETURN, in one step, if the next word is that and nothing is concerned but totals. */
ALWAYS int call_at_once(const struct quick *q, const struct code_event *e, const struct words_ahead *w,
			enum heard heard)
{
	struct thread *t = q->thread;
	struct function *fn = e->code->function;
	const bool times = heard == HEARD_TIMES;
	const struct stretch s = { e->time, e->cycles, w->part->w->ns[w->part->at + 1],
				   times ? 0 : word_cycles(w->part, w->part->at + 1) };

	if (s.end_ns < s.ns || s.end_cycles < s.cycles || s.end_ns >= q->until_ns)
		return THREAD_SLOW;
	if (q->waited_for && (!row_is_only_stack(t) || e->code->c))
		return THREAD_SLOW;
	held_gil(q, s.ns);
	if (q->waited_for)
		gil_ran(t->gil, s.end_ns, &t->gil_held_ns, &fn->gil_held_ns);
	q->events[OP_PY_START]++;
	q->events[OP_PY_RETURN]++;
	t->last_ns = s.end_ns;
	if (!times) {
		fn->events[OP_PY_START]++;
		fn->events[OP_PY_RETURN]++;
		t->last_cycles = s.end_cycles;
		t->passed += heard != HEARD_NOTHING ? 2 : 0;
	}
	return thread_call_plain(t, t->stack, e->code, &s, q->to, heard) ?: WORDS_TWO;
}

/* May it be one of those? */
static inline bool may_be_at_once(const struct thread *t, const struct code_event *e, const struct words_ahead *w)
{
	return word_ahead_is(w, OP_PY_RETURN, e->code) && !e->code->generator && returns_plainly(t, t->stack, e->code);
}

static inline bool is_at_once(const struct thread *t, const struct code_event *e, const struct words_ahead *w)
{
	struct function *fn = e->code->function;

	if (!fn || !fn->at_once)
		return false;
	if (may_be_at_once(t, e, w))
		return true;
	fn->at_once--;
	return false;
}

/* By value: the loop of the caller, which all words pass, need not have them in memory for it. */
static __attribute__((noinline)) int take_row(const struct quick *q, struct word_part part, struct numbers numbers,
					      uint32_t head)
{
	return thread_row(q, &(struct words_ahead){ &part, &numbers, head });
}

/*
 * Or several, if several came last and nobody has to hear of each. Trips in a row need what is not kept where only
 * times are (loop.h).
 */
ALWAYS int take_at_once(struct quick *q, const struct code_event *e, const struct words_ahead *w, enum heard heard)
{
	int err = 0;

	if (heard != HEARD_TIMES && q->in_row >= ROW_BEGINS && !q->to->apart) {
		err = take_row(q, *w->part, *w->numbers, w->head);
		q->in_row = 0;
	}
	q->in_row++;
	return err ?: call_at_once(q, e, w, heard);
}

ALWAYS int take_as(void *quick, const struct code_event *e, const struct words_ahead *w, enum heard heard, bool ticks)
{
	struct quick *q = quick;
	struct thread *t = q->thread;
	int err = THREAD_SLOW;

	if (!is_in_time(q, e->time, e->cycles, ticks))
		return THREAD_SLOW;
	if (heard != HEARD_EVENTS && e->op == OP_PY_START && is_at_once(t, e, w))
		err = take_at_once(q, e, w, heard);
	if (err != THREAD_SLOW)
		return err;
	err = act(q, e, heard);
	if (!err)
		count(q, e, heard);
	return err;
}

ALWAYS int take_times(void *quick, const struct code_event *e, const struct words_ahead *w)
{
	return take_as(quick, e, w, HEARD_TIMES, true);
}

ALWAYS int take_alone(void *quick, const struct code_event *e, const struct words_ahead *w)
{
	return take_as(quick, e, w, HEARD_NOTHING, false);
}

ALWAYS int take_ticks(void *quick, const struct code_event *e, const struct words_ahead *w)
{
	return take_as(quick, e, w, HEARD_NOTHING, true);
}

ALWAYS int take(void *quick, const struct code_event *e, const struct words_ahead *w)
{
	return take_as(quick, e, w, HEARD_ACTIVATIONS, false);
}

ALWAYS int take_and_tell(void *quick, const struct code_event *e, const struct words_ahead *w)
{
	return take_as(quick, e, w, HEARD_EVENTS, false);
}

/* --- other words */

static struct code_event event_at(const struct word_part *p, size_t at)
{
	return (struct code_event){ .bits = p->w->bits[at], .time = p->w->ns[at], .cycles = word_cycles(p, at) };
}

/* A SUBJECT word. */
static int take_subject(const struct quick *q, const struct word_part *p, size_t at, uint64_t payload)
{
	const struct code_event e = event_at(p, at);
	struct thread *t = q->thread;

	if (is_told(q->to) || q->to->first.passed)
		return 0;
	if (!is_in_time(q, e.time, e.cycles, false) || !subject_is_step(marker_subject_what(payload)))
		return 0;
	held_gil(q, e.time);
	q->events[OP_EXTENSION]++;
	q->to->profile->known_kinds++;
	if (q->to->only_times && marker_subject_what(payload) == SUBJECT_TASK_WOKEN)
		return 1;
	return subject_steps(t, t->stack, payload, e.time, q->to->profile) ?: 1;
}

ALWAYS int jump_wide(const struct quick *q, const struct code_event *e, uint64_t wide, enum heard heard)
{
	int err = jump(q->thread, e, word_offset(e) | marker_wide_offset(wide) * 2, (int64_t)marker_wide_dest(wide) * 2,
		       q->to, heard);

	if (!err)
		count(q, e, heard == HEARD_EVENTS ? HEARD_ACTIVATIONS : heard);
	return err;
}

/* A WIDE word and the JUMP behind it: the back-edge of a long loop. */
static int take_wide(const struct quick *q, const struct word_stream *l, const struct word_part *p, size_t at,
		     uint64_t wide)
{
	struct code_event e;
	int err;

	if (at + 1 == p->end)
		return 0;
	e = event_at(p, at + 1);
	if (marker_seq(e.bits) != ((marker_seq(wide) + 1) & MARKER_SEQ_MASK) || marker_op(e.bits) != OP_JUMP)
		return 0;
	e.op = OP_JUMP;
	e.code = codes_own(l->process, marker_code(e.bits));
	if (!e.code || !e.code->function || !is_in_time(q, e.time, e.cycles, false))
		return 0;
	if (q->to->only_times)
		err = jump_wide(q, &e, wide, HEARD_TIMES);
	else
		err = jump_wide(q, &e, wide, q->to->first.plain ? HEARD_EVENTS : HEARD_ACTIVATIONS);
	return err == THREAD_SLOW ? 0 : err ?: 2;
}

static __attribute__((noinline)) int take_other(void *quick, const struct word_stream *l, const struct word_part *p,
						size_t at, uint64_t bits)
{
	if (word_is_subject(l, bits))
		return take_subject(quick, p, at, marker_payload(bits));
	return marker_op(bits) == OP_WIDE ? take_wide(quick, l, p, at, bits) : 0;
}

/* Of activations, loops' trips, samples, or how many events had none. */
static bool hear_activations(const struct subscribers *to)
{
	const struct sink_links *l = &to->first;

	return l->sample || l->passed || l->enter || l->leave || l->call || l->iterate;
}

/* What is left out of the thread's own cycles is its time's. */
static int take_all_times(struct quick *q, struct word_stream *l, struct word_part *p)
{
	int err = word_stream_events(l, p, q, take_times, take_other, CYCLES_NONE);

	q->thread->last_cycles = word_ticks(p->in_ns, q->thread->last_ns);
	return err;
}

int thread_quick(struct thread *t, uint64_t until_ns, struct word_stream *l, struct word_part *p,
		 const struct subscribers *to)
{
	uint64_t quiet_ns = to->first.sample ? t->quiet_ns : UINT64_MAX;
	struct quick q = { t, until_ns < quiet_ns ? until_ns : quiet_ns, t->gil->waiting, to, to->profile->events, 0 };
	int err;

	if (to->first.plain)
		err = word_stream_events(l, p, &q, take_and_tell, take_other, CYCLES_ANY);
	else if (hear_activations(to))
		err = word_stream_events(l, p, &q, take, take_other, CYCLES_ANY);
	else if (word_are_ticks(p, t->last_ns, t->last_cycles) && to->only_times)
		err = take_all_times(&q, l, p);
	else if (word_are_ticks(p, t->last_ns, t->last_cycles))
		err = word_stream_events(l, p, &q, take_ticks, take_other, CYCLES_TICKS);
	else
		err = word_stream_events(l, p, &q, take_alone, take_other, CYCLES_ANY);
	held_gil(&q, t->last_ns);
	return err;
}
