// SPDX-License-Identifier: MIT
/*
 * Frames lie in one array that keeps its size, so that a push is a few stores. Each remembers the next frame of the
 * same code further out: that shows recursion without a search.
 */
#include "stack.h"

#include <stdlib.h>

#include "base/cold.h"
#include "exceptions.h"
#include "nested.h"
#include "shared/array.h"

static COLD struct activity *find_activity(struct stack *s, const struct code *code, int32_t pid)
{
	struct activity *a = map_get(&s->activities, (uintptr_t)code);

	if (!a && pids_add(&code->function->pids, pid))
		return NULL;
	return a ? a : map_add(&s->activities, (uintptr_t)code, sizeof(*a));
}

/* The one on the stack where the code last ran is found without a search. */
static inline struct activity *activity_of(struct stack *s, const struct code *code, int32_t pid)
{
	struct function *fn = code->function;

	if (fn->stack == s)
		return fn->activity;
	fn->activity = find_activity(s, code, pid);
	fn->stack = fn->activity ? s : NULL;
	return fn->activity;
}

static COLD int make_room(struct stack *s)
{
	if (!ARRAY_ROOM(s->frames, s->nframes, s->frames_size))
		return -1;
	s->top = s->nframes ? &s->frames[s->nframes - 1] : NULL;
	return 0;
}

/* Member by member: assigned as one value it would first be zeroed by a loop. */
static void begin(struct frame *f, const struct stack *s, const struct sample *sample, struct activity *activity)
{
	f->a.pid = sample->pid;
	f->a.tid = sample->tid;
	f->a.interpreter = s->interpreter;
	f->a.greenlet = s->greenlet;
	f->a.depth = s->nframes;
	f->a.code = sample->code;
	f->a.op = sample->op;
	f->a.object = NULL;
	f->a.start_ns = sample->time;
	f->a.start_cycles = sample->cycles;
	f->a.callee_ns = 0;
	f->a.callee_cycles = 0;
	f->a.off = (struct off){ 0 };
	f->activity = activity;
	f->outer = activity->top;
	f->recursive = activity->depth > 0;
	f->adopted = false;
	f->awaits = false;
	f->called_at = -1;
	f->loops = s->nloops;
	f->instrs = 0;
	f->line = NULL;
	f->line_cycles = 0;
	f->import = NULL;
	f->step = f->outer_step = 0;
	f->spans = NULL;
	f->jumping = NULL;
}

struct frame *stack_push(struct stack *s, const struct sample *sample)
{
	struct activity *activity = activity_of(s, sample->code, sample->pid);
	struct frame *f;

	if (!activity || (s->nframes == s->frames_size && make_room(s)))
		return NULL;
	f = s->top ? s->top + 1 : s->frames;
	begin(f, s, sample, activity);
	activity->depth++;
	activity->top = s->nframes++;
	s->top = f;
	return f;
}

struct frame *stack_pop(struct stack *s)
{
	struct frame *f = s->top;

	s->top = --s->nframes ? f - 1 : NULL;
	f->activity->depth--;
	f->activity->top = f->outer;
	s->nloops = f->loops;
	return f;
}

bool stack_has(const struct stack *s, const struct code *code)
{
	const struct activity *a = map_get(&s->activities, (uintptr_t)code);

	return a && a->depth;
}

struct frame *stack_innermost(const struct stack *s, const struct code *code)
{
	struct frame *f = s->top;

	if (!stack_has(s, code))
		return NULL;
	while (f->a.code != code)
		f--;
	return f;
}

struct frame *stack_c_call(const struct stack *s, const struct code *code, int64_t offset)
{
	struct frame *f = s->top;
	const struct activity *a;

	if (s->nframes > 1 && f->called_at == offset && f[-1].a.code == code)
		return f;
	a = map_get(&s->activities, (uintptr_t)code);
	f = a && a->depth && a->top + 1 < s->nframes ? &s->frames[a->top + 1] : NULL;
	return f && f->called_at == offset ? f : NULL;
}

void stack_free(struct stack *s)
{
	for (uint32_t i = 0; i < s->nframes; i++)
		nested_free(&s->frames[i].spans);
	map_free_all(&s->activities);
	free(s->frames);
	free(s->loops);
	flights_free(s->flights);
}
