/* SPDX-License-Identifier: MIT */
/*
 * subjects.h - for whom a thread works: what SUBJECT words say, and which step of which task or job its activations
 * are.
 */
#pragma once

#include "objects.h"
#include "requests.h"
#include "sample.h"
#include "stack.h"
#include "steps.h"

struct job;
struct profile;
struct subscribers;
struct thread;

/* Of a thread. */
struct doing {
	uint64_t step;	 /* the running one; 0: the thread's own */
	uint64_t own;	 /* the thread's own; 0: nobody has asked for it yet */
	uint64_t unseen; /* instead of `step`: of functions that are left out, until the next word says else; 0: none */
	uint64_t around; /* the one in which that began: what began after it is inside */
	bool task_unseen;	    /* what runs a task's steps is left out: what it does after one is for the task */
	uint64_t due_ns;	    /* of the timer that is made next; 0: it is none */
	struct called called;	    /* by the last NAME word */
	struct traced traced;	    /* of the request that begins next, */
	unsigned int pieces;	    /* so much of it */
	struct request_ref request; /* that it works for where it works in no step but its own */
	uint64_t beginning;	    /* address of the coroutine that begins next, of a task; 0: none */
	uint64_t stepping;	    /* likewise of the task whose step has begun, until something of generators runs; */
	uint32_t step_depth;	    /* then there were so many activations */
	struct last_yield {
		struct object *object;	  /* what has just yielded, and may be something else now, */
		uint64_t address, serial; /* of it (objects.h); 0: nothing has */
	} last;
	struct object *next; /* what probably goes on next, because what goes on awaits it; may be something else now */
	struct object *round; /* likewise the coroutine of the task whose step began last */
	struct ended {
		uint64_t address, step; /* of the task that ended last */
	} ended;
	uint64_t unnamed;	  /* a job that may get another name; 0: none */
	unsigned handed_rank;	  /* what a function must exceed for that (code->rank); 0: its own is still to come */
	struct stack_mark handed; /* its own function's activation, after that */
	uint64_t awaited;	  /* address of the job that the thread waits for; 0: none */
	struct stack_mark awaits; /* in which activation it does */
	uint64_t hidden;	  /* address of the running task's own coroutine, if that is left out; 0: none */
	uint32_t thrown_depth;	  /* that of what it awaits, which was thrown into and goes on; else 0 */
	struct code *yielded;	  /* in which coroutine what yields was suspended; NULL: nothing yields */
	struct code *yielded_by;  /* then, the innermost one that is most the program's own (origin_rank()) */
	uint64_t named;		  /* the step whose `what` can be no better */
};

/* A step of a task begins, or may begin: such a word lets the thread not go on elsewhere, and has no name. */
static inline bool subject_is_step(enum subject what)
{
	return what == SUBJECT_TASK_BEGUN || what == SUBJECT_TASK_UNSEEN || what == SUBJECT_TASK_WOKEN;
}

/* The payload of such a word, while the thread is in this stack. 0 or -ENOMEM. */
int subject_steps(struct thread *t, const struct stack *st, uint64_t payload, uint64_t ns, struct profile *p);

/* Any SUBJECT word. 0, -ENOMEM, or what a sink returned. */
int subject_word(struct thread *t, const struct sample *s, const struct subscribers *to);

/* A step of the task with this coroutine throws into something: also if the coroutine is left out. 0 or -ENOMEM. */
int subject_thrown(struct thread *t, uint64_t address, uint64_t ns, struct profile *p);

/* A step of the task that the thread works for: also if its work has been handed on. NULL: none. */
const struct step *subject_task(const struct thread *t, const struct profile *p);

/* The request that the thread works for: also in what was handed on. NULL: none that is known. */
const struct request *subject_request(const struct thread *t, const struct profile *p);

/* Another greenlet runs: it may work for another request, unless a task does. */
void subject_switches(struct thread *t, struct profile *p);

/* What the step is called that the thread works in. NULL: not known yet, or it is none of a task or job. */
struct code *subject_what(const struct thread *t, const struct profile *p);

/* The job that the thread, in this stack or in none, waits for if it waits at all; NULL: none that is known. */
const struct job *subject_awaited(const struct thread *t, const struct stack *inner, const struct profile *p);

/* Sets o->called, when an event of it comes. */
void subject_name(const struct thread *t, struct object *o, struct profile *p);

/* The innermost activation has begun: of this object, or NULL. Or what a sink returned. */
int subject_begins(struct thread *t, struct stack *st, struct object *o, uint64_t ns, const struct subscribers *to);

/* It ends, and is still innermost. Likewise. */
int subject_ends(struct thread *t, struct stack *st, struct object *o, uint64_t ns, enum leave_how how,
		 const struct subscribers *to);

/* The same of the innermost activation's step, where that is of no object: of what runs steps, or of a job. */
void subject_leave_step(struct thread *t, const struct stack *st);

/* Is the object a task's own coroutine? */
bool subject_is_tasks(const struct thread *t, struct object *o, struct profile *p);

/* The innermost activation yields: of this object, which is no task's own. 0 or -ENOMEM. */
int subject_yields(struct thread *t, const struct frame *f, struct object *o, struct profile *p);

/* Is an activation on the stack the step of a task or job? */
bool subject_of_stack(const struct stack *st);

/*
 * The same of most: it is not the first that yields, it had been suspended before, and it is no more the program's own
 * than those are.
 */
static inline bool subject_yields_on(const struct doing *d, const struct frame *f)
{
	const struct code *code = f->a.code;

	return d->yielded && f->a.op != OP_PY_START && code->rank && code->rank <= d->yielded_by->rank;
}

/* It yields, where sinks need only times: what is to be known if it is an eager task's. */
static inline void subject_yields_unseen(const struct frame *f, struct object *o)
{
	o->eager.step = f->a.code->coroutine && f->a.op == OP_PY_START ? STEP_NOT_KEPT : 0;
	o->eager.where = o->eager.by = NULL;
}

/* May the object be a task's own coroutine? Not once that was asked, and denied. */
static inline bool subject_may_be_tasks(const struct object *o)
{
	return o->task || (o->address && !o->asked);
}

/* What subject_begins() has to do with an object. */
static inline bool subject_has_object(const struct doing *d, const struct object *o, const struct code *code)
{
	return subject_may_be_tasks(o) || d->hidden || d->unnamed || (code->coroutine && d->named != d->step);
}

/*
 * Is subject_begins() to be called as a function of this code begins, of the object, or of none? The test of nearly all
 * that have nothing to do with it.
 */
static inline bool subject_is_concerned(const struct doing *d, const struct object *o, const struct code *code)
{
	return o ? subject_has_object(d, o, code)
		 : d->unnamed && !code->c && (!code->rank || code->rank > d->handed_rank);
}

/* Likewise subject_ends(): of the object that is the innermost activation's. */
static inline bool subject_is_ending(const struct frame *f, const struct object *o)
{
	return f->step || subject_may_be_tasks(o);
}

/* As it yields. If not, subject_yields() does it, unless subject_is_tasks(). */
static inline bool subject_is_yielding(const struct doing *d, const struct frame *f, const struct object *o)
{
	return f->step || o->task || d->hidden;
}
