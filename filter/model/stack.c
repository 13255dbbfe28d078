// SPDX-License-Identifier: MIT
/*
 * Frames lie in one array that keeps its size, so that a push is a few stores. Each remembers the next frame of the
 * same code further out: that shows recursion without a search.
 */
#include "stack.h"

#include <stdlib.h>

#include "base/cold.h"
#include "exceptions.h"
#include "loop.h"
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

/* Zeroed: not all of a frame is set where sinks need only times. */
static COLD int make_room(struct stack *s)
{
	uint32_t before = s->frames_size;

	if (!ARRAY_ROOM(s->frames, s->nframes, s->frames_size))
		return -1;
	memset(s->frames + before, 0, (s->frames_size - before) * sizeof(*s->frames));
	s->top = s->nframes ? &s->frames[s->nframes - 1] : NULL;
	return 0;
}

struct frame *stack_push(struct stack *s, const struct sample *sample)
{
	struct activity *activity = activity_of(s, sample->code, sample->pid);

	if (!activity || (!stack_has_room(s) && make_room(s)))
		return NULL;
	return stack_put(s, activity, sample, false);
}

struct stack_mark stack_mark(const struct stack *s, uint64_t ns)
{
	return (struct stack_mark){ .in = s, .frames = s ? s->nframes : 0, .ns = ns };
}

bool stack_has_marked(const struct stack *s, const struct stack_mark *mark)
{
	if (s != mark->in)
		return false;
	if (!mark->frames)
		return true;
	return s->nframes >= mark->frames && s->frames[mark->frames - 1].a.start_ns <= mark->ns;
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
	loop_free_all(s);
	flights_free(s->flights);
}
