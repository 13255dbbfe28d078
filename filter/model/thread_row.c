// SPDX-License-Identifier: MIT
/*
 * Events are told apart by the numbers of their words (word_stream.h): what has been looked at once is known by its
 * number from then on, a call by that of its return, too.
 */
#include "thread_row.h"

#include "gil.h"
#include "thread_plain.h"

#define ALWAYS static inline __attribute__((always_inline))

#define ROW_FUNCTIONS 8u

/* The calls of one function, in the place for its number. */
struct calls {
	uint32_t number, returns; /* of its PY_START, and of the PY_RETURN */
	uint32_t n;
	uint32_t first;	     /* where it first begins, in the part */
	struct code *code;   /* NULL: the place is free */
	uint64_t ns, cycles; /* sums */
	__uint128_t squares; /* of the cycles */
};

struct row {
	const struct quick *q;
	const struct word_part *part; /* `at` is the row's first word */
	const struct numbers *numbers;
	struct frame *caller;
	uint64_t until_ns;
	struct calls of[ROW_FUNCTIONS];
	uint32_t order[ROW_FUNCTIONS], n; /* the places that are not free, in order of appearance */
	uint64_t jump;			  /* the number of the JUMP; ROW_NONE: there was none yet */
	struct loop_trips trips;
};

#define ROW_NONE UINT64_MAX

/* Where it has come to. */
struct place {
	size_t at;
	uint32_t head;
	uint64_t ns, cycles, return_ns; /* of the last event, and of the last one that was a return */
	uint64_t callee_ns;		/* of the caller's */
};

/* What is free has the number of another place. */
static void begin(struct row *r)
{
	for (uint32_t i = 0; i < ROW_FUNCTIONS; i++) {
		r->of[i].number = i + 1;
		r->of[i].code = NULL;
	}
	r->n = 0;
	r->jump = ROW_NONE;
}

static bool is_callable(const struct row *r, const struct code *code)
{
	const struct function *fn = code->function;

	return fn && fn->stack == r->q->thread->stack && !code->generator;
}

/* A PY_START of code that has not been looked at. */
static bool open_calls(struct row *r, uint64_t number, struct code *code, size_t at, uint32_t head)
{
	const struct word_part part = { .w = r->part->w, .at = at, .end = r->part->end };
	struct calls *c = &r->of[number % ROW_FUNCTIONS];

	if (c->code || !is_callable(r, code) ||
	    !word_ahead_is(&(struct words_ahead){ &part, r->numbers, head }, OP_PY_RETURN, code))
		return false;
	*c = (struct calls){
		.number = number, .returns = part.w->bits[at + 1] - word_next_head(head), .first = at, .code = code
	};
	r->order[r->n++] = number % ROW_FUNCTIONS;
	return true;
}

static bool open_trips(struct row *r, uint64_t number, const struct numbered *jump)
{
	const struct code_event e = word_event(jump->code, jump->word);

	if (r->jump != ROW_NONE || jump->code != r->caller->a.code || r->caller->jumping ||
	    word_target(&e) > word_offset(&e) ||
	    !loop_trips_begin(&r->trips, r->q->thread->stack, word_offset(&e), word_target(&e), r->q->thread->last_ns))
		return false;
	r->jump = number;
	return true;
}

/* What has this number is looked at. false: the row is over. */
static __attribute__((noinline)) bool look_at(struct row *r, uint64_t number, size_t at, uint32_t head)
{
	const struct numbered *e = number < r->numbers->n ? &r->numbers->all[number] : NULL;

	if (!e || !e->code)
		return false;
	if (e->op == OP_PY_START)
		return open_calls(r, number, e->code, at, head);
	return e->op == OP_JUMP && open_trips(r, number, e);
}

/* What does not change meanwhile. ticks: cycles are those of a clock, the thread's last ones too (thread_quick.c). */
struct reach {
	struct word_part part;
	uint64_t until_ns;
	bool ticks;
};

ALWAYS uint64_t cycles_at(const struct reach *in, size_t at)
{
	return in->ticks ? word_ticks(in->part.in_ns, in->part.w->ns[at]) : word_cycles(&in->part, at);
}

/* May what follows that time be at the other one? */
ALWAYS bool is_in_time(const struct reach *in, uint64_t ns, uint64_t cycles, uint64_t then_ns, uint64_t then_cycles)
{
	return then_ns >= ns && then_ns < in->until_ns && (in->ticks || then_cycles >= cycles);
}

ALWAYS void go_to(struct place *to, uint64_t ns, uint64_t cycles, uint32_t words)
{
	to->ns = ns;
	to->cycles = cycles;
	to->at += words;
	to->head += words * word_next_head(0);
}

/* It begins at *to, at that time. false: it does not return at once. */
ALWAYS bool take_call(const struct reach *in, struct calls *c, struct place *to, uint64_t ns, uint64_t cycles)
{
	uint64_t end_ns = in->part.w->ns[to->at + 1], end_cycles = cycles_at(in, to->at + 1);
	uint64_t took_ns = end_ns - ns, took = end_cycles - cycles;

	if (in->part.w->bits[to->at + 1] - word_next_head(to->head) != c->returns ||
	    !is_in_time(in, ns, cycles, end_ns, end_cycles))
		return false;
	c->n++;
	c->ns += took_ns;
	c->cycles += took;
	c->squares += spread_square(took);
	to->callee_ns += took_ns;
	to->return_ns = end_ns;
	go_to(to, end_ns, end_cycles, 2);
	return true;
}

/* As far as the row goes. */
ALWAYS void take(struct row *r, const struct reach *in, struct place *to)
{
	while (to->at + 1 < in->part.end) {
		uint64_t number = in->part.w->bits[to->at] - to->head, ns = in->part.w->ns[to->at];
		uint64_t cycles = cycles_at(in, to->at);
		struct calls *c = &r->of[number % ROW_FUNCTIONS];

		if (!is_in_time(in, to->ns, to->cycles, ns, cycles))
			break;
		if (number == c->number) {
			if (!take_call(in, c, to, ns, cycles))
				break;
		} else if (number == r->jump) {
			loop_trips_add(&r->trips, ns, cycles, to->callee_ns);
			go_to(to, ns, cycles, 1);
		} else if (!look_at(r, number, to->at, to->head)) {
			break;
		}
	}
}

ALWAYS struct place take_all(struct row *r, uint32_t head, bool ticks)
{
	const struct thread *t = r->q->thread;
	const struct reach in = { *r->part, r->until_ns, ticks };
	struct place to = { .at = in.part.at,
			    .head = head,
			    .ns = t->last_ns,
			    .cycles = t->last_cycles,
			    .callee_ns = r->caller->a.callee_ns };

	take(r, &in, &to);
	return to;
}

/* The caller had it while others waited, and what it called as long as that ran. */
static void hold_gil(const struct row *r, const struct place *to)
{
	struct thread *t = r->q->thread;
	struct gil *g = t->gil;
	uint64_t ns = to->return_ns - g->since_ns, callees = to->callee_ns - r->caller->a.callee_ns;

	if (!r->q->waited_for)
		return;
	t->gil_held_ns += ns * g->waiting;
	r->caller->a.code->function->gil_held_ns += (ns - callees) * g->waiting;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct calls *c = &r->of[r->order[i]];

		c->code->function->gil_held_ns += c->ns * g->waiting;
	}
	g->since_ns = to->return_ns;
}

static void add_calls(const struct row *r, const struct calls *c)
{
	struct function *fn = c->code->function;
	struct spread spread = { .n = c->n, .sum = (int64_t)c->cycles, .squares = c->squares };
	bool recursive = fn->activity->depth > 0;

	fn->cpu_unknown |= !r->q->thread->cpu.known;
	fn->calls += c->n;
	fn->recursive_calls += recursive ? c->n : 0;
	fn->self_ns += c->ns;
	fn->self_cycles += c->cycles;
	fn->total_ns += recursive ? 0 : c->ns;
	fn->total_cycles += recursive ? 0 : c->cycles;
	spread_join(&fn->self_spread, &spread);
	fn->events[OP_PY_START] += c->n;
	fn->events[OP_PY_RETURN] += c->n;
	r->q->events[OP_PY_START] += c->n;
	r->q->events[OP_PY_RETURN] += c->n;
}

static int tell_calls(const struct row *r, const struct calls *c)
{
	const struct thread *t = r->q->thread;
	const struct word_part *p = r->part;
	const struct stretch s = { p->w->ns[c->first], word_cycles(p, c->first), 0, 0 };
	const struct activation first = thread_called(t, t->stack, c->code, &s, r->q->to);
	const struct call_sums sums = { c->n, c->ns, c->cycles };

	return SUBSCRIBERS_CALL(r->q->to, calls, &first, &sums);
}

static int settle_calls(const struct row *r, const struct place *to)
{
	struct activation *caller = &r->caller->a;
	int err = 0;

	hold_gil(r, to);
	for (uint32_t i = 0; i < r->n && !err; i++) {
		const struct calls *c = &r->of[r->order[i]];

		if (!c->n) /* looked at, but its time was over */
			continue;
		add_calls(r, c);
		caller->callee_cycles += c->cycles;
		err = r->q->to->first.calls ? tell_calls(r, c) : 0;
	}
	caller->callee_ns = to->callee_ns;
	r->q->thread->doing.yielded = NULL;
	r->q->thread->doing.last.address = 0;
	return err;
}

static void settle_trips(const struct row *r)
{
	if (r->jump == ROW_NONE)
		return;
	loop_trips_end(&r->trips, r->q->thread->stack);
	r->caller->a.code->function->events[OP_JUMP] += r->trips.n;
	r->q->events[OP_JUMP] += r->trips.n;
}

static int settle(const struct row *r, const struct place *to)
{
	struct thread *t = r->q->thread;

	if (to->at == r->part->at)
		return 0;
	settle_trips(r);
	t->passed += r->q->to->first.passed ? to->at - r->part->at : 0;
	t->last_ns = to->ns;
	t->last_cycles = to->cycles;
	return settle_calls(r, to) ?: (int)(to->at - r->part->at);
}

/* Of one call alone it is known that it may be told of and added (returns_plainly()), and so of others. */
static bool may_begin(const struct quick *q)
{
	const struct thread *t = q->thread;

	return !q->waited_for ||
	       (row_is_only_stack(t) && !stack_top(t->stack)->a.code->c && t->last_ns >= t->gil->since_ns);
}

int thread_row(const struct quick *q, const struct words_ahead *w)
{
	const struct thread *t = q->thread;
	struct row r = { .q = q, .part = w->part, .numbers = w->numbers, .caller = stack_top(t->stack) };
	uint64_t until_ns = subscribers_calls_until(q->to, &r.caller->a);
	struct place to;

	if (!until_ns || !may_begin(q))
		return 0;
	r.until_ns = until_ns < q->until_ns ? until_ns : q->until_ns;
	begin(&r);
	to = word_are_ticks(r.part, t->last_ns, t->last_cycles) ? take_all(&r, w->head, true)
								: take_all(&r, w->head, false);
	return settle(&r, &to);
}
