/* SPDX-License-Identifier: MIT */
/*
 * subject_parts.h - what the files of subjects.h share: subjects.c and subject_*.c. No other file includes it.
 *
 * Functions that return an int return 0, -ENOMEM, or what a sink returned. `s` is the sample with a SUBJECT word, and
 * `address` the task or job that it is of.
 */
#pragma once

#include "code/origin.h"
#include "profile.h"
#include "subjects.h"
#include "thread.h"

/* A frame's step while it runs a task's: what it does after that is still for the task. */
#define RUNS_TASK UINT64_MAX

/* Is it in no step of those that have begun since a word told of functions that are left out? */
static inline bool doing_is_around(const struct doing *d)
{
	return d->step == d->around;
}

/* The step that the thread works in; 0: its own. */
static inline uint64_t doing_step(const struct doing *d)
{
	return d->unseen && doing_is_around(d) ? d->unseen : d->step;
}

/* The program's own coroutine that awaits where the task is suspended; NULL: it is that one, or there is none. */
static inline const struct code *doing_awaited_by(const struct doing *d, const struct codes *codes)
{
	bool own = d->yielded && d->yielded_by != d->yielded && origin_rank(codes, d->yielded_by);

	return own ? d->yielded_by : NULL;
}

/* --- subjects.c */

/* The thread's own step. 0: no memory. */
uint64_t subject_own_step(struct thread *t, struct profile *p);

/* The step that the thread works in, which there is. Likewise. */
static inline uint64_t subject_step(struct thread *t, struct profile *p)
{
	return doing_step(&t->doing) ?: subject_own_step(t, p);
}

/* Where it is kept for which request the thread works. */
const struct request_ref *subject_request_in(const struct thread *t, const struct profile *p);

/* The step of an activation begins: those inside it belong to it. */
int subject_begin_step(struct thread *t, struct frame *f, const struct step *step, struct profile *p);

/* A step of the task, which begins now. */
struct step subject_step_of(const struct thread *t, const struct async_task *task, struct code *what, uint64_t ns,
			    const struct profile *p);

/* --- subject_marks.c */

int subject_tell_mark(const struct step *s, enum critical_kind kind, const struct code *what, uint64_t from,
		      uint64_t until, const struct subscribers *to);

/* A part of the life of a task. */
static inline int subject_mark(const struct step *s, enum critical_kind kind, const struct code *what, uint64_t from,
			       uint64_t until, const struct subscribers *to)
{
	return to->first.task && from < until ? subject_tell_mark(s, kind, what, from, until, to) : 0;
}

/* What it did since its step before, or since it was made. Called where somebody hears of it. */
int subject_mark_wait(const struct step *s, uint64_t since, const struct subscribers *to);

/* An eager task: what it ran is shown where it ran, too. */
int subject_mark_eager(const struct thread *t, const struct object *o, const struct async_task *task,
		       const struct subscribers *to);

/* A task's step ends. Likewise. */
int subject_mark_run(const struct frame *f, uint64_t ns, const struct subscribers *to);

/* --- subject_jobs.c */

int subject_make_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p);

/* The innermost activation does it. One that was never handed over as a whole (a reader of a socket) is its own. */
int subject_begin_job(struct thread *t, const struct sample *s, uint64_t address, bool seen, struct profile *p);

/* The innermost activation waits for it, and ends when it does not any more; of one that is left out 0 tells that. */
int subject_await_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p);

/* The first time is what lets others go on that wait for it (an event may be set again). */
int subject_end_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p);

int subject_drop_job(struct thread *t, uint64_t address, struct profile *p);

/* --- subject_names.c */

/* The function that names the job's step is still to come. */
void subject_await_name(struct doing *d, uint64_t job);

/* A function begins that is, or that the function that was handed over may have called. */
void subject_name_job(struct doing *d, const struct stack *st, struct code *code, uint64_t ns, const struct profile *p);

/* A task's step is named by the first of its coroutines that are most the program's own: the outermost one. */
void subject_name_step(struct doing *d, struct code *code, const struct profile *p);

/* Of a task whose own coroutine is not seen: the outermost one that is, of those that are most the program's own. */
void subject_name_hidden(struct thread *t, struct code *code, struct profile *p);

/* --- subject_hidden.c */

/* Such a coroutine begins or goes on. One that another coroutine awaits is no task's. */
int subject_run_hidden(struct thread *t, const struct sample *s, uint64_t address, struct profile *p);

/* It is suspended, or ends. */
int subject_rest_by_word(struct thread *t, const struct sample *s, uint64_t address, bool ends,
			 const struct subscribers *to);

/* What a hidden task awaits is suspended again, after something was thrown into it: so is the task. */
int subject_rest_thrown(struct thread *t, const struct stack *st, const struct frame *f, uint64_t ns,
			enum leave_how how, const struct subscribers *to);
