// SPDX-License-Identifier: MIT
/*
 * An exception that an event loop throws into a task's coroutine is raised in the innermost one of those that this
 * awaits. CPython tells of that alone, though the others are on its stack, too: frames for them are put there.
 *
 * Which ones they are was seen when they yielded: the innermost first, each right after the one that it awaits. That
 * the exception came through all of them is known of a task, in whose step (a SUBJECT word) only its own coroutine can
 * be thrown into. Anything else may just as well be thrown into directly, and has the same events then.
 */
#include "thread_parts.h"

#include <string.h>

#include "objects.h"

/* What awaits it, and has not run since. NULL: nothing, or that is not known. */
static struct object *awaiter_of(const struct objects *all, const struct object *o)
{
	struct object *by = o->awaiter.address ? objects_find(all, o->awaiter.address) : NULL;

	return object_is_suspended(all, by) && by->serial == o->awaiter.serial && by->since_ns == o->awaiter.since_ns
		       ? by
		       : NULL;
}

static void note_yield(struct thread *t, uint64_t address)
{
	struct object *o = objects_find(t->objects, address);

	if (!object_is_suspended(t->objects, o)) {
		t->doing.last.address = 0;
		return;
	}
	thread_link_yields(t, o);
}

int thread_yielded(struct thread *t, struct stack *st, uint64_t address, const struct sample *s,
		   const struct subscribers *to)
{
	int err = 0;

	note_yield(t, address);
	while (!err && stack_top(st) && stack_top(st)->awaits) {
		address = stack_top(st)->a.object->address;
		err = thread_leave(t, st, s->time, s->cycles, LEAVE_YIELD, to);
		note_yield(t, address);
	}
	return err;
}

/* It, and all that it awaits down to `inner`, which is not among them: they were suspended together. */
static int put_back(struct thread *t, struct stack *st, struct object *o, const struct object *root,
		    const struct sample *s, const struct subscribers *to)
{
	struct sample begun = *s;
	int err = o != root ? put_back(t, st, awaiter_of(t->objects, o), root, s, to) : 0;

	if (err)
		return err;
	begun.code = o->code;
	begun.generator = o;
	err = thread_enter(t, st, &begun, true, to);
	if (!err)
		stack_top(st)->awaits = true;
	return err;
}

#define AWAITING_MOST 10000

/* Does the one await the other, over whatever is between? */
static bool leads_to(const struct objects *all, const struct object *o, const struct object *root)
{
	for (unsigned n = 0; o && o != root && n < AWAITING_MOST; n++)
		o = awaiter_of(all, o);
	return o && o == root;
}

/* Is it what runs the step that throws? Since that began there are only C functions, and those of tasks in Python. */
static bool is_by_step(const struct thread *t, const struct stack *st)
{
	uint32_t more = t->depth - t->doing.step_depth;

	if (t->depth < t->doing.step_depth || more > st->nframes)
		return false;
	for (const struct frame *f = stack_top(st); more--; f--)
		if (!f->a.code->c && !strstr(f->a.code->file, "/asyncio/tasks.py"))
			return false;
	return true;
}

int thread_thrown(struct thread *t, struct stack *st, const struct sample *s, const struct subscribers *to)
{
	const struct object *o = object_of(s);
	uint64_t stepping = t->doing.stepping;
	struct object *root = stepping ? objects_find(t->objects, stepping) : NULL;

	t->doing.stepping = 0;
	if (o && stepping && !root && is_by_step(t, st))
		return subject_thrown(t, stepping, s->time, to->profile);
	if (!o || o == root || !object_is_suspended(t->objects, root) || !is_by_step(t, st) ||
	    !leads_to(t->objects, o, root))
		return 0;
	return put_back(t, st, awaiter_of(t->objects, o), root, s, to);
}
