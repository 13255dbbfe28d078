// SPDX-License-Identifier: MIT
/* What steps are called: by functions and coroutines that begin in them. */
#include <string.h>

#include "subject_parts.h"

void subject_await_name(struct doing *d, uint64_t job)
{
	d->unnamed = job;
	d->handed_rank = 0;
}

void subject_name_hidden(struct thread *t, struct code *code, struct profile *p)
{
	struct async_task *task = async_tasks_find(&p->tasks, t->pid, t->doing.hidden);
	struct step *step = task ? steps_get(&p->steps, task->step) : NULL;

	if (!step || !code->coroutine ||
	    (step->what && origin_rank(p->codes, code) <= origin_rank(p->codes, step->what)))
		return;
	step->what = code;
	task->coroutine = task->coroutine ? task->coroutine : code;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), more = strlen(end);

	return length >= more && !strcmp(text + length - more, end);
}

/* Is it the function that a job is about? What does jobs calls some of its own before. */
static bool is_jobs_own(const struct step *job, const struct code *code)
{
	static const char *const others[] = { "/concurrent/futures/_base.py",
					      "/threading.py",
					      "/queue.py",
					      "/asyncio/base_events.py",
					      "/outcome/_impl.py",
					      "/trio/_threads.py",
					      "/inspect.py" };
	bool own = !job->what || strcmp(job->what->file, code->file);

	for (size_t i = 0; own && i < sizeof(others) / sizeof(*others); i++)
		own = !ends_with(code->file, others[i]);
	return own;
}

/* Does it do nothing but call a job's function? */
static bool hands_on(const struct code *code)
{
	return ends_with(code->file, "/threading.py") ||
	       (ends_with(code->file, "/trio/_threads.py") && ends_with(code->qualname, ".worker_fn"));
}

/* Who called the innermost activation, without C functions; NULL: nothing that is known. */
static const struct code *caller_in(const struct stack *st)
{
	const struct frame *f = stack_top(st);

	while (f > st->frames && (f - 1)->a.code->c)
		f--;
	return f > st->frames ? (f - 1)->a.code : NULL;
}

/*
 * The module that does jobs, if it is seen, calls the function itself (CPython 3.14 in another method than the one
 * that is seen first): what others call afterwards tells that the job is over.
 */
static bool is_handed_over(const struct step *job, const struct stack *st, const struct code *code)
{
	const struct code *by = caller_in(st);
	bool direct = !job->what || (by && (!strcmp(by->file, job->what->file) || hands_on(by)));

	return direct && is_jobs_own(job, code);
}

/* It is called by the first function that is more the program's own than those before: the outermost one. */
static void name_by(struct doing *d, struct step *job, struct code *code, const struct profile *p)
{
	unsigned rank = origin_rank(p->codes, code);

	job->what = code;
	d->handed_rank = code->rank;
	if (rank == ORIGIN_RANK_MOST)
		d->unnamed = 0;
}

/* Code in no file is mostly made by a library (dataclasses, werkzeug), though it lies in none. */
static bool is_more_own(const struct doing *d, struct code *code, const struct profile *p)
{
	return 1 + origin_rank(p->codes, code) > d->handed_rank && *code->file != '<';
}

void subject_name_job(struct doing *d, const struct stack *st, struct code *code, uint64_t ns, const struct profile *p)
{
	struct step *job = steps_get(&p->steps, d->unnamed);

	if (!job || (d->handed_rank && !stack_has_marked(st, &d->handed))) {
		d->unnamed = 0;
	} else if (!d->handed_rank && is_handed_over(job, st, code)) {
		d->handed = stack_mark(st, ns);
		name_by(d, job, code, p);
	} else if (d->handed_rank && doing_step(d) == d->unnamed && is_more_own(d, code, p)) {
		name_by(d, job, code, p);
	}
}

void subject_name_step(struct doing *d, struct code *code, const struct profile *p)
{
	struct step *s = code->coroutine ? steps_get(&p->steps, d->step) : NULL;

	if (!s || s->kind != STEP_TASK || !s->what)
		return;
	if (origin_rank(p->codes, code) > origin_rank(p->codes, s->what))
		s->what = code;
	if (origin_rank(p->codes, s->what) == ORIGIN_RANK_MOST)
		d->named = d->step;
}
