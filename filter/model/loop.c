// SPDX-License-Identifier: MIT
/*
 * The open loops of all frames of a stack are in one array, each frame's above its caller's, so that leaving a frame
 * leaves its loops by cutting the array. What is open stays where it is in memory, also while it is held.
 */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cold.h"
#include "stack.h"
#include "shared/array.h"

static void took_add(struct took *to, struct took more)
{
	to->ns += more.ns;
	off_add(&to->off, more.off);
}

/* Adds to what is 0 in a plain trip, so the trip that `o` is in is none. */
static void mix(struct open_loop *o, struct took *part, struct took more)
{
	took_add(part, more);
	o->plain = false;
}

static struct took took_minus(struct took from, struct took less)
{
	return (struct took){ from.ns - less.ns, off_minus(from.off, less.off) };
}

/* Time in trips. Those of an inner activation wait for the outer one, whose own trip may turn out to be around them. */
static inline void add_time(struct stack *s, const struct open_loop *o, struct took took)
{
	if (o->outer) {
		mix(s->loops[o->outer - 1], &s->loops[o->outer - 1]->nested, took);
		return;
	}
	o->loop->time += took.ns;
	off_add(&o->loop->off, took.off);
}

/* The open loop around the innermost one; there is one. */
static inline struct open_loop *around(const struct stack *s)
{
	return s->loops[s->nloops - 2];
}

/* The innermost one is no more. */
static inline void close_loop(struct stack *s)
{
	struct open_loop *o = s->loops[--s->nloops];

	o->next = s->spare_loop;
	s->spare_loop = o;
}

/*
 * The innermost open loop was left. The time of loops inside it since its last back-edge is in none of its trips, but
 * in one of the loop around it.
 */
static int leave(struct stack *s, const struct frame *f, bool whole)
{
	struct open_loop *o = s->loops[s->nloops - 1];

	if (!o->plain)
		add_time(s, o, o->nested);
	if (!o->plain && s->nloops > 1)
		mix(around(s), &around(s)->inner, took_minus(o->inner, o->inner_given));
	if (!o->plain && s->nloops - 1 > f->loops)
		around(s)->inner_body_ns += o->inner_body_ns;
	close_loop(s);
	return whole ? stat_add(&o->loop->trips, o->trips) : 0;
}

int loop_leave_frame(struct stack *s, bool whole)
{
	const struct frame *f = stack_top(s);
	int err = 0;

	while (s->nloops > f->loops && !err)
		err = leave(s, f, whole);
	return err;
}

/*
 * Leaves the loops that cannot be around this back-edge's loop: those inside it and those before it. *found: that loop
 * itself, NULL if it is not open. The jump's target decides, because an exception handler that continues a loop may lie
 * far behind all of it.
 */
static int innermost(struct stack *s, const struct frame *f, int64_t head, struct open_loop **found)
{
	int err = 0;

	*found = NULL;
	while (s->nloops > f->loops && !err) {
		struct open_loop *o = s->loops[s->nloops - 1];

		if (o->loop->head == head)
			*found = o;
		if (*found || (o->loop->head < head && extent_has(&o->loop->extent, head)))
			break;
		err = leave(s, f, true);
	}
	return err;
}

/* Index + 1 of the frame's open loop; 0: it is not open there. */
static uint32_t open_in(const struct stack *s, const struct frame *f, const struct loop *loop)
{
	uint32_t end = f + 1 < s->frames + s->nframes ? f[1].loops : s->nloops;

	for (uint32_t i = f->loops; i < end; i++)
		if (s->loops[i]->loop == loop)
			return i + 1;
	return 0;
}

static uint32_t open_outside(const struct stack *s, const struct frame *f, const struct loop *loop)
{
	uint32_t found = 0;

	while (!found && f->recursive) {
		f = &s->frames[f->outer];
		found = open_in(s, f, loop);
	}
	return found;
}

/*
 * Nothing is counted of the next trip yet. Member by member: assigned as one value it would first be zeroed by a loop,
 * which takes longer than a trip's rest.
 */
static inline void begin_next(struct open_loop *o)
{
	const struct took none = { 0 };

	o->off = none.off;
	o->inner = o->given = o->inner_given = o->shared = o->nested = none;
	o->inner_body_ns = o->suspended_ns = o->suspensions = 0;
	o->plain = true;
}

/* Likewise. */
static inline void begin_loop(struct open_loop *o, struct loop *loop, uint32_t outer)
{
	o->loop = loop;
	o->trips = 0;
	o->last_ns = o->last_cycles = o->last_instrs = 0;
	o->callee_ns = 0;
	o->began = loop->head;
	o->source = SAMPLE_NOWHERE;
	o->from = 0;
	o->uops = 0;
	o->outer = outer;
	begin_next(o);
}

/* Of no loop yet. NULL: no memory. */
static struct open_loop *spare_loop(struct stack *s)
{
	struct open_loop *o = s->spare_loop;

	if (o)
		s->spare_loop = o->next;
	return o ?: malloc(sizeof(*o));
}

static struct open_loop *enter(struct stack *s, const struct frame *f, int64_t head)
{
	struct loop *loop = function_loop(f->a.code, head);
	struct open_loop *o = loop && ARRAY_ROOM(s->loops, s->nloops, s->loops_size) ? spare_loop(s) : NULL;

	if (!o)
		return NULL;
	loop->entries++;
	begin_loop(o, loop, open_outside(s, f, loop));
	return s->loops[s->nloops++] = o;
}

/*
 * Bytecodes from the start of the trip to source inclusive, EXTENDED_ARG included; 0 if the bytecode is not known. For
 * a trip that a handler ended it is the body's: how far it came, and what ran in the handler, is not known.
 */
static uint64_t static_uops(const struct loop *loop, int64_t from, int64_t source)
{
	const struct code *code = loop->code;
	int64_t last = source < loop->extent.body ? source : loop->extent.body;

	return code->ninstrs ? code_index(code, last) - code_index(code, from) + 1 : 0;
}

static uint64_t trip_uops(struct open_loop *o, const struct frame *f, const struct sample *jump)
{
	if (f->instrs)
		return f->instrs - o->last_instrs;
	if (o->source != jump->offset || o->from != o->began) {
		o->source = jump->offset;
		o->from = o->began;
		o->uops = static_uops(o->loop, o->began, jump->offset);
	}
	return o->uops;
}

static int account(struct stack *s, struct open_loop *o, const struct trip *t)
{
	struct loop *loop = o->loop;

	loop->iterations++;
	if (!t->timed)
		return 0;
	loop->uops += t->uops;
	loop->suspended_ns += t->suspended_ns;
	add_time(s, o, took_minus((struct took){ t->ns, t->off }, o->shared));
	o->shared = (struct took){ 0 };
	o->nested = (struct took){ 0 };
	return stat_add(&loop->cycles, t->cycles);
}

/* What a trip took in its own frame, and what of that was not in loops inside it. */
static void time_body(const struct stack *s, const struct frame *f, struct open_loop *o, struct trip *t)
{
	uint64_t callees = f->a.callee_ns - o->callee_ns;
	uint64_t body = t->ns > callees ? t->ns - callees : 0;

	t->own_ns = body > o->inner_body_ns ? body - o->inner_body_ns : 0;
	if (s->nloops - 1 > f->loops)
		around(s)->inner_body_ns += body; /* its `inner` has the trip, too: account_own() */
	o->inner_body_ns = 0;
	o->callee_ns = f->a.callee_ns;
}

/* Entering a loop leaves the one before it: what an inner trip took is not the outer one's own. */
static void account_own(struct stack *s, struct open_loop *o, struct trip *t)
{
	if (t->timed) {
		t->self_ns = t->ns - o->inner.ns;
		t->self_off = off_minus(t->off, o->inner.off);
		o->loop->own_time += t->self_ns;
		off_add(&o->loop->own_off, t->self_off);
	}
	o->inner = o->inner_given = (struct took){ 0 };
	if (s->nloops > 1)
		mix(around(s), &around(s)->inner, took_minus((struct took){ t->ns, t->off }, o->given));
	o->given = (struct took){ 0 };
}

/*
 * If the bytecode is not known, the loop at the jump's target. Back-edges are looked up first: they are much fewer than
 * instructions.
 */
static int64_t head_of(const struct sample *jump)
{
	const struct back_edge *edge = code_back_edge(jump->code, jump->offset);
	uint32_t i;

	if (edge)
		return edge->head;
	i = code_index(jump->code, jump->offset);
	if (i < jump->code->ninstrs && jump->code->instrs[i].back_edge && jump->code->instrs[i].offset == jump->offset)
		return jump->code->instrs[i].target;
	return jump->target;
}

/* Member by member as begin_loop(). */
static inline void begin_trip(struct trip *t, const struct stack *s, struct open_loop *o, const struct sample *jump)
{
	const struct frame *f = stack_top(s);

	t->loop = o->loop;
	t->in = &f->a;
	t->depth = s->nloops - 1;
	t->number = ++o->trips;
	t->timed = o->trips > 1;
	t->end_ns = jump->time;
	t->ns = t->timed ? jump->time - o->last_ns : 0;
	t->cycles = t->timed ? jump->cycles - o->last_cycles : 0;
	t->suspended_ns = t->timed ? o->suspended_ns : 0;
	t->suspensions = o->suspensions;
	t->off = t->timed ? o->off : (struct off){ 0 };
	t->own_ns = t->self_ns = 0;
	t->self_off = (struct off){ 0 };
	t->uops = trip_uops(o, f, jump);
	t->counted = f->instrs > 0;
}

/* A trip of the innermost open loop ends. */
static inline int end_trip(struct stack *s, struct open_loop *o, const struct sample *jump, struct trip *trip)
{
	const struct frame *f = stack_top(s);

	begin_trip(trip, s, o, jump);
	o->suspensions = 0;
	o->suspended_ns = 0;
	o->off = (struct off){ 0 };
	o->last_ns = jump->time;
	o->last_cycles = jump->cycles;
	o->last_instrs = f->instrs;
	o->began = jump->target;
	time_body(s, f, o, trip);
	account_own(s, o, trip);
	o->plain |= trip->timed;
	return account(s, o, trip);
}

static int end_other(struct stack *s, const struct sample *jump, struct trip *trip)
{
	const struct frame *f = stack_top(s);
	int64_t head = head_of(jump);
	struct open_loop *o;

	if (head < 0)
		return LOOP_NONE;
	if (innermost(s, f, head, &o))
		return -ENOMEM;
	o = o ?: enter(s, f, head);
	if (!o)
		return -ENOMEM;
	extent_reach(&o->loop->extent, jump->offset);
	return end_trip(s, o, jump, trip);
}

/* The trip of a loop that ends took so long: so much more for it, and for those around it. */
static inline void add_trip(struct stack *s, const struct frame *f, struct open_loop *o, struct took took)
{
	uint64_t callees = f->a.callee_ns - o->callee_ns;

	o->loop->own_time += took.ns - o->inner.ns;
	off_add(&o->loop->own_off, off_minus(took.off, o->inner.off));
	o->loop->suspended_ns += o->suspended_ns;
	add_time(s, o, took_minus(took, o->shared));
	if (s->nloops > 1)
		mix(around(s), &around(s)->inner, took_minus(took, o->given));
	if (s->nloops - 1 > f->loops)
		around(s)->inner_body_ns += took.ns > callees ? took.ns - callees : 0;
}

/* The same of a plain one, with all that is 0 left out; or of several. */
static inline void add_plain(struct stack *s, const struct frame *f, struct open_loop *o, uint64_t ns, uint64_t callees)
{
	o->loop->own_time += ns;
	if (o->outer)
		add_time(s, o, (struct took){ ns, { 0 } });
	else
		o->loop->time += ns;
	if (s->nloops - 1 > f->loops)
		around(s)->inner_body_ns += ns > callees ? ns - callees : 0;
	if (s->nloops > 1)
		mix(around(s), &around(s)->inner, (struct took){ ns, { 0 } });
}

/* What of a trip does not depend on whether it is plain. */
static inline int end_timed(const struct frame *f, struct open_loop *o, int64_t target, uint64_t ns, uint64_t cycles)
{
	struct loop *loop = o->loop;
	uint64_t took = cycles - o->last_cycles;

	o->trips++;
	o->last_ns = ns;
	o->last_cycles = cycles;
	o->callee_ns = f->a.callee_ns;
	o->began = target;
	loop->iterations++;
	loop->uops += o->uops;
	return stat_add(&loop->cycles, took);
}

/* begin_trip() of a plain one: it is timed, and its uops are those of the trip before. */
static inline void begin_plain(struct trip *t, const struct stack *s, const struct open_loop *o,
			       const struct sample *jump)
{
	t->loop = o->loop;
	t->in = &stack_top(s)->a;
	t->depth = s->nloops - 1;
	t->number = o->trips + 1;
	t->timed = true;
	t->end_ns = jump->time;
	t->ns = t->self_ns = jump->time - o->last_ns;
	t->cycles = jump->cycles - o->last_cycles;
	t->suspended_ns = 0;
	t->suspensions = 0;
	t->off = t->self_off = (struct off){ 0 };
	t->uops = o->uops;
	t->counted = false;
}

/* end_trip() of a plain one whose uops are known. It is timed, because the trip before it ended as well. */
static inline int end_plain(struct stack *s, struct open_loop *o, const struct sample *jump, struct trip *trip)
{
	const struct frame *f = stack_top(s);
	uint64_t ns = jump->time - o->last_ns, callees = f->a.callee_ns - o->callee_ns;

	begin_plain(trip, s, o, jump);
	trip->own_ns = ns > callees ? ns - callees : 0;
	add_plain(s, f, o, ns, callees);
	return end_timed(f, o, jump->target, jump->time, jump->cycles);
}

int loop_back_edge(struct stack *s, const struct sample *jump, struct trip *trip)
{
	struct open_loop *o = loop_repeated(s, jump->offset);

	if (s->no_loops)
		return LOOP_NONE;
	if (o && o->plain && o->from == o->began && !stack_top(s)->instrs)
		return end_plain(s, o, jump, trip);
	return o ? end_trip(s, o, jump, trip) : end_other(s, jump, trip);
}

/* end_trip(). It is timed, because the trip before it ended as well. */
static __attribute__((noinline)) int repeat(struct stack *s, struct open_loop *o, int64_t target, uint64_t ns,
					    uint64_t cycles)
{
	const struct frame *f = stack_top(s);
	struct took took = { ns - o->last_ns, o->off };

	if (o->plain) {
		add_plain(s, f, o, took.ns, f->a.callee_ns - o->callee_ns);
	} else {
		add_trip(s, f, o, took);
		begin_next(o);
	}
	return end_timed(f, o, target, ns, cycles);
}

static COLD int end_untold(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns,
			   uint64_t cycles)
{
	const struct sample jump = { .code = code, .offset = offset, .target = target, .time = ns, .cycles = cycles };
	struct trip trip;

	return loop_back_edge(s, &jump, &trip);
}

/* Most trips are plain ones of the only loop that is open on the stack. */
int loop_jump(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns, uint64_t cycles)
{
	struct open_loop *o = loop_repeated(s, offset);
	uint64_t took;

	if (s->no_loops)
		return LOOP_NONE;
	if (!o || o->from != o->began || stack_top(s)->instrs)
		return end_untold(s, code, offset, target, ns, cycles);
	if (!o->plain || o->outer || s->nloops > 1)
		return repeat(s, o, target, ns, cycles);
	took = ns - o->last_ns;
	o->loop->own_time += took;
	o->loop->time += took;
	return end_timed(stack_top(s), o, target, ns, cycles);
}

bool loop_trips_begin(struct loop_trips *t, const struct stack *s, int64_t offset, int64_t target, uint64_t ns)
{
	const struct frame *f = stack_top(s);
	struct open_loop *o = s->no_loops ? NULL : loop_repeated(s, offset);

	*t = (struct loop_trips){ .of = o, .ns = ns };
	if (s->no_loops)
		return true;
	if (!o || !o->plain || o->from != o->began || o->began != target || f->instrs || !o->loop->cycles.buckets)
		return false;
	/* Callees do not take longer than the trip that they are in: so the times of several add up. */
	if (ns < o->last_ns || f->a.callee_ns - o->callee_ns > ns - o->last_ns)
		return false;
	t->cycles = o->last_cycles;
	t->min = o->loop->cycles.min;
	t->max = o->loop->cycles.max;
	return true;
}

void loop_trips_end(const struct loop_trips *t, struct stack *s)
{
	struct open_loop *o = t->of;

	if (!o || !t->n)
		return;
	add_plain(s, stack_top(s), o, t->ns - o->last_ns, t->callee_ns - o->callee_ns);
	stat_add_row(&o->loop->cycles, t->n, t->cycles - o->last_cycles, t->squares, t->min, t->max);
	o->loop->iterations += t->n;
	o->loop->uops += t->n * o->uops;
	o->trips += t->n;
	o->last_ns = t->ns;
	o->last_cycles = t->cycles;
	o->callee_ns = t->callee_ns;
}

/*
 * What loops around it take from it. Of all that is in an open loop only that, and when its trip began, is used where
 * sinks need only times.
 */
static inline void forget_inner(struct open_loop *o)
{
	const struct took none = { 0 };

	o->off = none.off;
	o->inner = o->given = o->inner_given = none;
	o->plain = true;
}

/* Its trip ends: end_trip(), for own_time alone. */
static int end_times(struct stack *s, struct open_loop *o, uint64_t ns)
{
	struct took took = { ns - o->last_ns, o->off };

	o->loop->iterations++;
	o->loop->own_time += took.ns - o->inner.ns;
	off_add(&o->loop->own_off, off_minus(took.off, o->inner.off));
	if (s->nloops > 1)
		mix(around(s), &around(s)->inner, took_minus(took, o->given));
	forget_inner(o);
	o->last_ns = ns;
	return 0;
}

int loop_jump_times_seldom(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns)
{
	struct open_loop *o = loop_repeated(s, offset);

	if (s->no_loops)
		return LOOP_NONE;
	return o && !stack_top(s)->instrs ? end_times(s, o, ns) : end_untold(s, code, offset, target, ns, 0);
}

/*
 * As much of its trip as was in this activation counts for the loops around it now: the next one may have others.
 * `at` is its place in the array.
 */
static inline void give(struct stack *s, const struct frame *f, struct open_loop *o, uint32_t at, uint64_t ns,
			bool only_times)
{
	struct took ran = { ns - o->last_ns, o->off };

	o->plain = false;
	if (!only_times && o->outer) {
		add_time(s, o, took_minus(ran, o->shared));
		o->shared = ran;
	}
	if (at != f->loops)
		return;
	if (at)
		mix(s->loops[at - 1], &s->loops[at - 1]->inner, took_minus(ran, o->given));
	o->given = ran;
	o->inner_given = o->inner;
}

static inline __attribute__((always_inline)) void hold(struct stack *s, struct held_loops *to, uint64_t ns,
						       uint64_t cycles, bool only_times)
{
	const struct frame *f = stack_top(s);
	struct open_loop **end = &to->outermost;

	to->instrs = f->instrs;
	for (uint32_t i = f->loops; i < s->nloops; i++) {
		struct open_loop *o = s->loops[i];

		give(s, f, o, i, ns, only_times);
		o->last_ns = ns - o->last_ns;
		if (!only_times) {
			o->last_cycles = cycles - o->last_cycles;
			o->callee_ns -= f->a.callee_ns;
		}
		*end = o;
		end = &o->next;
	}
	*end = NULL;
	s->nloops = f->loops;
}

void loop_hold_frame(struct stack *s, struct held_loops *to, uint64_t ns, uint64_t cycles)
{
	hold(s, to, ns, cycles, false);
}

void loop_hold_times(struct stack *s, struct held_loops *to, uint64_t ns)
{
	hold(s, to, ns, 0, true);
}

int loop_resume_times(struct stack *s, struct held_loops *from, uint64_t ns)
{
	stack_top(s)->instrs = from->instrs;
	for (struct open_loop *o; (o = from->outermost); s->loops[s->nloops++] = o) {
		if (!ARRAY_ROOM(s->loops, s->nloops, s->loops_size))
			return -ENOMEM;
		from->outermost = o->next;
		o->outer = 0;
		o->last_ns = ns - o->last_ns;
		o->plain = false;
	}
	return 0;
}

int loop_resume_frame(struct stack *s, struct held_loops *from, uint64_t ns, uint64_t cycles, uint64_t suspended_ns)
{
	struct frame *f = stack_top(s);

	f->instrs = from->instrs;
	for (struct open_loop *o; (o = from->outermost); s->loops[s->nloops++] = o) {
		if (!ARRAY_ROOM(s->loops, s->nloops, s->loops_size))
			return -ENOMEM;
		from->outermost = o->next;
		o->outer = open_outside(s, f, o->loop);
		o->last_ns = ns - o->last_ns;
		o->last_cycles = cycles - o->last_cycles;
		o->suspended_ns += suspended_ns;
		o->suspensions++;
		o->plain = false;
	}
	return 0;
}

void loop_drop(struct held_loops *h, bool whole)
{
	for (struct open_loop *o; (o = h->outermost); free(o)) {
		h->outermost = o->next;
		o->loop->time += o->nested.ns;
		off_add(&o->loop->off, o->nested.off);
		if (whole)
			stat_add(&o->loop->trips, o->trips);
	}
}

void loop_free_all(struct stack *s)
{
	while (s->nloops)
		close_loop(s);
	for (struct open_loop *o; (o = s->spare_loop); free(o))
		s->spare_loop = o->next;
	free(s->loops);
}
