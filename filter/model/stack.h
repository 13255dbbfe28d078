/* SPDX-License-Identifier: MIT */
/*
 * stack.h - the Python stack of one interpreter on one thread, rebuilt from events.
 *
 * It pairs the beginnings of activations with their ends and knows nothing of sinks or time windows. A stack begins
 * unknown: frames that were open before the trace (or before a gap) are below it, and appear when they first do
 * something.
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "base/map.h"
#include "sink.h"

struct open_loop; /* loop.h */
struct import;	  /* imports.h */
struct flights;	  /* exceptions.h */
struct nested;	  /* nested.h */

/* A code object's frames on this stack. */
struct activity {
	uint32_t depth; /* how many */
	uint32_t top;	/* index of the innermost one, if depth > 0 */
};

struct frame {
	struct activation a;
	struct activity *activity;
	uint32_t outer; /* index of the next frame of the same code further out, if recursive */
	bool recursive;
	bool adopted;	   /* its beginning was not seen */
	bool awaits;	   /* it is in what it awaits, and no event has told that it runs (thread_thrown.c) */
	uint32_t loops;	   /* index of its first open loop in stack.loops */
	int64_t called_at; /* a C function: the CALL's offset in the caller's code; else -1 */

	/* All that follows is 0 as it begins. */
	uint64_t instrs;	     /* INSTRUCTION events in this frame so far */
	struct line_cost *line;	     /* the running one, NULL if not known */
	uint64_t line_cycles;	     /* cycles of its own that the activation had when the line began */
	struct import *import;	     /* that it is (imports.h); NULL: none */
	uint64_t step, outer_step;   /* of a task or job, if it is one's (subjects.h), and the one around it */
	struct nested *spans;	     /* that began in it and are not over */
	const struct instr *jumping; /* a back-edge whose INSTRUCTION came, and no JUMP yet */
};

struct stack {
	struct stack *next; /* of the thread */
	uint32_t interpreter;
	uint64_t greenlet; /* of its activations */
	bool no_loops;	   /* nobody has a use for them: none is ever open */
	struct frame *top; /* the innermost, NULL if none is known */
	struct frame *frames;
	uint32_t nframes, frames_size;
	struct import *import;	  /* the innermost one that is open, or NULL */
	struct flights *flights;  /* NULL: no exception yet */
	struct open_loop **loops; /* of all frames, outermost first */
	uint32_t nloops, loops_size;
	struct open_loop *spare_loop; /* those that are no more, for new ones */
	struct map activities;	      /* struct code * -> struct activity */
};

/* The innermost frame, NULL if none is known. */
static inline struct frame *stack_top(const struct stack *s)
{
	return s->top;
}

/* The activation that was innermost at a time, without keeping its frame. Zeroed: none, of no stack. */
struct stack_mark {
	const struct stack *in;
	uint32_t frames;
	uint64_t ns;
};

/* In this stack, or in none: NULL. */
struct stack_mark stack_mark(const struct stack *s, uint64_t ns);

/* Is it still on this stack, which is there (NULL: none)? What has come in its place since began later. */
bool stack_has_marked(const struct stack *s, const struct stack_mark *mark);

/* Where it is, which only sinks want to know that hear of activations; and what it has used so far. */
static inline void stack_begin_whole(struct frame *f, const struct stack *s, const struct sample *sample)
{
	f->a.pid = sample->pid;
	f->a.tid = sample->tid;
	f->a.interpreter = s->interpreter;
	f->a.depth = s->nframes;
	f->a.greenlet = s->greenlet;
	f->a.start_cycles = sample->cycles;
	activation_clear(&f->a);
}

/* The same where sinks need only times. */
static inline void stack_begin_times(struct frame *f)
{
	f->a.object = NULL;
	f->a.callee_ns = 0;
	f->a.off = (struct off){ 0 };
}

/* Member by member: assigned as one value it would first be zeroed by a loop. */
static inline void stack_begin(struct frame *f, const struct stack *s, const struct sample *sample,
			       struct activity *activity)
{
	f->a.code = sample->code;
	f->a.op = sample->op;
	f->a.start_ns = sample->time;
	f->activity = activity;
	f->outer = activity->top;
	f->recursive = activity->depth > 0;
	f->adopted = false;
	f->awaits = false;
	f->loops = s->nloops;
	f->called_at = -1;
	memset(&f->instrs, 0, sizeof(*f) - offsetof(struct frame, instrs));
}

/* A frame of code with that activity begins at sample; there is room for it. only_times: as sinks want it (sink.h). */
static inline __attribute__((always_inline)) struct frame *stack_put(struct stack *s, struct activity *activity,
								     const struct sample *sample, bool only_times)
{
	struct frame *f = s->top ? s->top + 1 : s->frames;

	if (only_times)
		stack_begin_times(f);
	else
		stack_begin_whole(f, s, sample);
	stack_begin(f, s, sample, activity);
	activity->depth++;
	activity->top = s->nframes++;
	s->top = f;
	return f;
}

static inline bool stack_has_room(const struct stack *s)
{
	return s->nframes < s->frames_size;
}

/*
 * Pushes a frame that begins at sample, of code that has its function_of(). NULL: no memory. Valid until the next push.
 * The stack must not move once it has frames.
 */
struct frame *stack_push(struct stack *s, const struct sample *sample);

/* The innermost frame has been taken off. */
static inline __attribute__((always_inline)) void stack_left(struct stack *s, const struct frame *f)
{
	f->activity->depth--;
	f->activity->top = f->outer;
	s->nloops = f->loops;
}

/* Takes the innermost frame off; it must exist. The result is valid until the next push. */
static inline struct frame *stack_pop(struct stack *s)
{
	struct frame *f = s->top;

	s->top = --s->nframes ? f - 1 : NULL;
	stack_left(s, f);
	return f;
}

/* The same where that has a caller on the stack. */
static inline __attribute__((always_inline)) struct frame *stack_pop_inner(struct stack *s)
{
	struct frame *f = s->top;

	s->top = f - 1;
	s->nframes--;
	stack_left(s, f);
	return f;
}

/* Is there a frame of this code? */
bool stack_has(const struct stack *s, const struct code *code);

/* The innermost frame of `code`. NULL: there is none. */
struct frame *stack_innermost(const struct stack *s, const struct code *code);

/* The frame of the C function that the innermost frame of this code called at the offset. NULL: none is open. */
struct frame *stack_c_call(const struct stack *s, const struct code *code, int64_t offset);

void stack_free(struct stack *s);
