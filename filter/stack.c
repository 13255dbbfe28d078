// SPDX-License-Identifier: MIT
/*
 * Frames lie in one array that keeps its size, so that a push is a few stores. Each remembers the
 * next frame of the same code further out: that tells recursion without a search.
 */
#include "stack.h"

#include <stdlib.h>

struct frame *stack_top(const struct stack *s)
{
	return s->nframes ? &s->frames[s->nframes - 1] : NULL;
}

static struct activity *activity_of(struct stack *s, const struct code *code)
{
	struct activity *a = map_get(&s->activities, (uintptr_t)code);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (a && map_put(&s->activities, (uintptr_t)code, a)) {
		free(a);
		return NULL;
	}
	return a;
}

static int make_room(struct stack *s)
{
	uint32_t size = s->frames_size ? s->frames_size * 2 : 64;
	struct frame *frames;

	if (s->nframes < s->frames_size)
		return 0;
	frames = realloc(s->frames, size * sizeof(*frames));
	if (!frames)
		return -1;
	s->frames = frames;
	s->frames_size = size;
	return 0;
}

struct frame *stack_push(struct stack *s, const struct sample *sample)
{
	struct activity *activity = activity_of(s, sample->code);
	struct frame *f;

	if (!activity || make_room(s))
		return NULL;
	f = &s->frames[s->nframes];
	*f = (struct frame){
		.a = {
			.pid = sample->pid,
			.tid = sample->tid,
			.interpreter = s->interpreter,
			.depth = s->nframes,
			.code = sample->code,
			.op = sample->op,
			.start_ns = sample->time,
			.start_cycles = sample->cycles,
		},
		.activity = activity,
		.outer = activity->top,
		.recursive = activity->depth > 0,
		.loops = s->nloops,
	};
	activity->depth++;
	activity->top = s->nframes++;
	return f;
}

struct frame *stack_pop(struct stack *s)
{
	struct frame *f = &s->frames[--s->nframes];

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

void stack_free(struct stack *s)
{
	for (struct map_slot *a = NULL; (a = map_next(&s->activities, a));)
		free(a->value);
	map_free(&s->activities);
	free(s->frames);
	free(s->loops);
}
