// SPDX-License-Identifier: MIT
/*
 * Which generator, coroutine or asynchronous generator an event is about. Some events tell its address; for the
 * others it is what is innermost. objects.c knows those that are alive.
 */
#include "thread_parts.h"

#include "objects.h"

/* The object of the innermost activation, if that is of this code. */
static struct object *innermost_object(struct thread *t, const struct sample *s)
{
	struct stack *st = stack_of(t, s->interpreter);
	const struct frame *top = st ? stack_top(st) : NULL;

	return top && top->a.code == s->code ? top->a.object : NULL;
}

/* A yield tells the address of what has begun here; another one than the innermost was resumed without an event. */
static struct object *yielding(struct thread *t, const struct sample *s)
{
	struct object *o = innermost_object(t, s);

	if (!s->whose || (o && o->address == s->whose))
		return o;
	if (o && !o->address)
		return objects_tell(t->objects, o, s->whose) ? NULL : o;
	return objects_at(t->objects, s->code, s->whose, s->time);
}

/* What is thrown into before it has begun ends there; what was put on the stack goes on there. */
static struct object *resumed(struct thread *t, const struct sample *s)
{
	struct stack *st = stack_of(t, s->interpreter);
	const struct frame *top = st ? stack_top(st) : NULL;

	t->doing.beginning = 0; /* it has begun before */
	if (s->op != OP_PY_THROW)
		t->doing.stepping = 0;
	if (!s->whose)
		return NULL;
	if (top && top->awaits && top->a.code == s->code && top->a.object->address == s->whose)
		return top->a.object;
	if (s->op == OP_PY_THROW && s->offset < s->code->entry) {
		struct object *o = objects_begin(t->objects, s->code, s->time);

		return o && !objects_tell(t->objects, o, s->whose) ? o : NULL;
	}
	return objects_at(t->objects, s->code, s->whose, s->time);
}

/* A task's coroutine has an address before it yields. */
static struct object *beginning(struct thread *t, const struct sample *s)
{
	struct object *o = t->objects->told ? objects_begin(t->objects, s->code, s->time) : NULL;

	if (o && s->code->coroutine && t->doing.beginning && objects_tell(t->objects, o, t->doing.beginning))
		return NULL;
	if (s->code->coroutine)
		t->doing.beginning = 0;
	t->doing.stepping = 0;
	return o;
}

void thread_identify(struct thread *t, struct sample *s, struct profile *p)
{
	struct object *o;

	t->objects->told |= s->code->process->identity || s->whose;
	if (s->op == OP_PY_START)
		o = beginning(t, s);
	else if (s->op == OP_PY_YIELD)
		o = yielding(t, s);
	else if (s->op == OP_PY_RESUME || s->op == OP_PY_THROW)
		o = resumed(t, s);
	else
		o = s->op == OP_PY_UNWIND && thread_is_struck(s) ? NULL : innermost_object(t, s);
	s->generator = o;
	if (o)
		subject_name(t, o, p);
}
