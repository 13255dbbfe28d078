/* SPDX-License-Identifier: MIT */
/*
 * loop.h - loops of the activations on a stack, rebuilt from back-edges.
 *
 * A loop is known by (code, head): heads.h assigns the back-edges. One to head h ends one trip of h and leaves every
 * loop inside it (a larger head). The first back-edge of an entry ends a trip whose beginning was not seen: it is
 * counted but not timed.
 */
#pragma once

#include "function.h"
#include "stack.h"

/* A time, and how much of it was not on a CPU. */
struct took {
	uint64_t ns;
	struct off off;
};

struct open_loop {
	struct open_loop *next; /* where it is held: the one inside it; where it is no more: another such one */
	struct loop *loop;
	uint64_t trips;		       /* back-edges of this entry */
	uint64_t last_ns, last_cycles; /* when the last one was taken */
	uint64_t callee_ns;	       /* the frame's, until then */
	uint64_t last_instrs;	       /* the frame's INSTRUCTION events until then */
	int64_t began;		       /* bytes: where the current trip began */
	int64_t from, source;	       /* of a trip: where it began and ended; these determine its static uops */
	uint64_t uops;
	uint32_t outer; /* index + 1 of the same loop in the next outer activation that has it open; 0: none */
	bool plain;	/* all that follows is 0 */

	/* Counted since the last back-edge: */
	struct off off;		 /* loop_off() */
	struct took inner;	 /* in timed trips of loops inside it */
	struct took given;	 /* of the running trip, in activations before: callers' loops have it already, */
	struct took inner_given; /* and of `inner`; of the frame's outermost loop only */
	struct took shared;	 /* likewise: in `nested` of the outer one */
	struct took nested;	 /* trips of this loop in inner activations, not counted yet */
	uint64_t inner_body_ns;	 /* of `inner`, in the same frame, without callees' */
	uint64_t suspended_ns;
	uint64_t suspensions;
};

/* The open loops of a suspended activation; what began at a time counts from the yield backwards. Zeroed: none. */
struct held_loops {
	struct open_loop *outermost;
	uint64_t instrs; /* the frame's */
};

/*
 * A back-edge in the innermost frame of the stack: counts it, and fills *trip. 0, LOOP_NONE if it repeats no loop or
 * the stack has none, or -ENOMEM. The frame must run the sample's code.
 */
#define LOOP_NONE 1
int loop_back_edge(struct stack *s, const struct sample *jump, struct trip *trip);

/* The thread is off for that time, and the loop open. */
static inline void loop_off(struct open_loop *o, struct off d)
{
	off_add(&o->off, d);
	o->plain = false;
}

/* The same, for nobody who wants the trip. */
int loop_jump(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns, uint64_t cycles);

/*
 * Trips in a row, each of which loop_jump() would take, of the innermost open loop: they are added at once. What is
 * between them are callees of the innermost frame.
 */
struct loop_trips {
	struct open_loop *of;	/* NULL: the stack has no loops, so nothing is added */
	uint64_t n, ns, cycles; /* when the last one ended; */
	uint64_t callee_ns;	/* the frame's, until then */
	uint64_t min, max;	/* cycles of any trip of the loop */
	__uint128_t squares;	/* of those of these trips */
};

/* false: the next one is of another kind, or of another loop; loop_jump() has to take it. */
bool loop_trips_begin(struct loop_trips *t, const struct stack *s, int64_t offset, int64_t target, uint64_t ns);

static inline void loop_trips_add(struct loop_trips *t, uint64_t ns, uint64_t cycles, uint64_t callee_ns)
{
	struct stat_sum *stat = t->of ? &t->of->loop->cycles : NULL;
	uint64_t took = cycles - t->cycles;

	t->n++;
	t->ns = ns;
	t->cycles = cycles;
	t->callee_ns = callee_ns;
	if (stat)
		stat_add_bucket(stat, took, &t->squares, &t->min, &t->max);
}

void loop_trips_end(const struct loop_trips *t, struct stack *s);

/*
 * The innermost frame ends, and its loops with it. whole: its end was seen, so its entries have no further trips. 0 or
 * -ENOMEM.
 */
int loop_leave_frame(struct stack *s, bool whole);

/* It is suspended: its loops are held, in the middle of their trips. */
void loop_hold_frame(struct stack *s, struct held_loops *to, uint64_t ns, uint64_t cycles);

/* The innermost frame has just begun: it goes on with these, which were held for so long. Likewise. */
int loop_resume_frame(struct stack *s, struct held_loops *from, uint64_t ns, uint64_t cycles, uint64_t suspended_ns);

/* The innermost open loop, if this back-edge ended its last trip, too. */
static inline struct open_loop *loop_repeated(const struct stack *s, int64_t offset)
{
	struct open_loop *o;

	if (s->nloops <= stack_top(s)->loops)
		return NULL;
	o = s->loops[s->nloops - 1];
	return o->source == offset ? o : NULL;
}

/* The same three where sinks need only times (sink.h). Inline: most trips are as in loop_jump(). */
int loop_jump_times_seldom(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns);
static inline int loop_jump_times(struct stack *s, struct code *code, int64_t offset, int64_t target, uint64_t ns)
{
	struct open_loop *o = loop_repeated(s, offset);

	if (!o || !o->plain || s->nloops > 1 || stack_top(s)->instrs)
		return loop_jump_times_seldom(s, code, offset, target, ns);
	o->loop->iterations++;
	o->loop->own_time += ns - o->last_ns;
	o->last_ns = ns;
	return 0;
}
void loop_hold_times(struct stack *s, struct held_loops *to, uint64_t ns);
int loop_resume_times(struct stack *s, struct held_loops *from, uint64_t ns);

/* They will not be resumed. whole: they ended where they were held. */
void loop_drop(struct held_loops *h, bool whole);

/* Frees what the stack has of open loops. */
void loop_free_all(struct stack *s);
