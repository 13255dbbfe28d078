// SPDX-License-Identifier: MIT
/*
 * The stacks of a thread: one for each interpreter that it runs in, those of greenlets that are away, and spare ones.
 */
#include "thread_parts.h"

#include <stdlib.h>

#include "loop.h"
#include "nested.h"
#include "objects.h"

/* A greenlet that has ended leaves one: a function may know the memory of stacks (function.h), so that is not freed. */
static struct stack *new_stack(struct thread *t)
{
	struct greenlets *g = &t->greenlets;
	struct stack *s = g->spare;

	if (s)
		g->spare = s->next;
	else
		s = calloc(1, sizeof(*s));
	if (s) {
		s->next = NULL;
		s->greenlet = greenlets_shown(g);
		s->no_loops = t->no_loops;
	}
	return s;
}

struct stack *thread_stack(struct thread *t, uint32_t interpreter)
{
	struct stack **at = &t->stacks;

	while (*at && (*at)->interpreter != interpreter)
		at = &(*at)->next;
	if (!*at && (*at = new_stack(t)))
		(*at)->interpreter = interpreter;
	return t->stack = *at;
}

struct stack *thread_innermost_stack(const struct thread *t)
{
	struct stack *found = NULL;

	for (struct stack *s = t->stacks; s; s = s->next)
		if (s->nframes && (!found || stack_top(s)->a.start_ns > stack_top(found)->a.start_ns))
			found = s;
	return found;
}

static void add_stack(struct stack **list, struct stack *s)
{
	if (!s)
		return;
	s->next = *list;
	*list = s;
}

/* The one of a greenlet that is away, which has none then. */
static struct stack *take_stack(struct greenlet *g)
{
	struct stack *s = g->stack;

	g->stack = NULL;
	return s;
}

struct stack *thread_unlink_stack(struct thread *t, uint32_t interpreter)
{
	struct stack **at = &t->stacks, *s;

	while (*at && (*at)->interpreter != interpreter)
		at = &(*at)->next;
	s = *at;
	if (s)
		*at = s->next;
	t->stack = NULL;
	return s;
}

struct stack *thread_link_stack(struct thread *t, struct greenlet *g, uint32_t interpreter)
{
	struct stack *st = take_stack(g);

	if (!st)
		st = new_stack(t);
	if (!st)
		return NULL;
	if (!st->nframes)
		st->interpreter = interpreter;
	add_stack(&t->greenlets.spare, thread_unlink_stack(t, st->interpreter));
	add_stack(&t->stacks, st);
	st->greenlet = greenlets_shown(&t->greenlets);
	return st;
}

void thread_lose_stack(struct thread *t, struct greenlet *g)
{
	struct stack *s = take_stack(g);

	if (!s)
		return;
	while (stack_top(s)) {
		struct object *o = stack_top(s)->a.object;

		loop_leave_frame(s, false);
		nested_free(&stack_top(s)->spans);
		stack_pop(s)->a.code->function->unfinished++;
		if (s->flights)
			flights_lose(s->flights, s->nframes + 1);
		if (o)
			objects_end(t->objects, o, t->last_ns, false);
	}
	s->import = NULL;
	add_stack(&t->greenlets.spare, s);
}

void thread_free_stacks(struct thread *t)
{
	for (struct map_slot *m = NULL; (m = map_next(&t->greenlets.by_address, m));)
		add_stack(&t->stacks, take_stack(m->value));
	for (struct stack *s; (s = t->greenlets.spare);) {
		t->greenlets.spare = s->next;
		add_stack(&t->stacks, s);
	}
	for (struct stack *s = t->stacks, *next; s; s = next) {
		next = s->next;
		for (uint32_t i = 0; i < s->nframes; i++)
			free(s->frames[i].a.object); /* a suspended one is no frame's */
		stack_free(s);
		free(s);
	}
}
