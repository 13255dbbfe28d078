// SPDX-License-Identifier: MIT
/* Jobs: what is handed to another thread, or to an event loop for later. */
#include <errno.h>

#include "subject_parts.h"

int subject_make_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_job(&p->tasks, t->pid, address);

	if (!j)
		return -ENOMEM;
	*j = (struct job){ .ready_ns = s->time + t->doing.due_ns,
			   .ready_by = t->doing.due_ns ? 0 : subject_step(t, p),
			   .request = *subject_request_in(t, p) };
	t->doing.due_ns = 0;
	return j->ready_by || j->ready_ns > s->time ? 0 : -ENOMEM;
}

/* Does the activation do one job after another? */
static bool is_next_job(const struct thread *t, const struct frame *f, const struct profile *p)
{
	const struct step *s = f->step == t->doing.step ? steps_get(&p->steps, f->step) : NULL;

	return s && s->kind == STEP_JOB;
}

static int begin_next(struct thread *t, struct frame *f, const struct step *step, struct profile *p)
{
	f->step = t->doing.step = steps_add(&p->steps, step);
	return f->step ? 0 : -ENOMEM;
}

int subject_begin_job(struct thread *t, const struct sample *s, uint64_t address, bool seen, struct profile *p)
{
	struct stack *st = thread_stack(t, s->interpreter);
	struct frame *f = st ? stack_top(st) : NULL;
	struct job *j = async_tasks_job(&p->tasks, t->pid, address);
	struct step step = { .kind = STEP_JOB, .pid = t->pid, .tid = t->tid, .begun_ns = s->time };
	int err;

	if (!j)
		return -ENOMEM;
	step.ready_ns = j->ready_ns;
	step.ready_by = j->ready_by;
	step.request = j->request;
	j->ready_ns = j->ready_by = 0;
	t->doing.task_unseen = false;
	if (!seen) {
		t->doing.around = t->doing.step;
		t->doing.unseen = steps_add(&p->steps, &step);
		subject_await_name(&t->doing, t->doing.unseen);
		return t->doing.unseen ? 0 : -ENOMEM;
	}
	if (!f || (f->step && !is_next_job(t, f, p)))
		return 0;
	step.what = f->a.code;
	err = f->step ? begin_next(t, f, &step, p) : subject_begin_step(t, f, &step, p);
	subject_await_name(&t->doing, f->step);
	return err;
}

int subject_await_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct job *j = address ? async_tasks_job(&p->tasks, t->pid, address) : NULL;

	t->doing.awaited = address;
	t->doing.awaits = stack_mark(thread_innermost_stack(t), s->time);
	if (j)
		j->awaited = true;
	return !address || j ? 0 : -ENOMEM;
}

const struct job *subject_awaited(const struct thread *t, const struct stack *inner, const struct profile *p)
{
	bool awaits = t->doing.awaited && stack_has_marked(inner, &t->doing.awaits);

	return awaits ? async_tasks_known_job(&p->tasks, t->pid, t->doing.awaited) : NULL;
}

int subject_end_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_known_job(&p->tasks, t->pid, address);

	if (!j || !j->awaited)
		return 0;
	j->awaited = false;
	j->done_ns = s->time;
	j->done_by = subject_step(t, p);
	return j->done_by ? 0 : -ENOMEM;
}

int subject_drop_job(struct thread *t, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_job(&p->tasks, t->pid, address);

	if (j)
		*j = (struct job){ 0 };
	return j ? 0 : -ENOMEM;
}
