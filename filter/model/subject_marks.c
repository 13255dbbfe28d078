// SPDX-License-Identifier: MIT
/* Parts of the lives of tasks, for the sinks that show these. */
#include "subject_parts.h"

int subject_tell_mark(const struct step *s, enum critical_kind kind, const struct code *what, uint64_t from,
		      uint64_t until, const struct subscribers *to)
{
	const struct step *by = kind == CRITICAL_RUNNING ? steps_get(&to->profile->steps, s->ready_by) : NULL;
	const struct task_mark m = { .pid = s->pid,
				     .task = s->task,
				     .called = s->called,
				     .kind = kind,
				     .coroutine = s->what,
				     .what = what,
				     .from_ns = from,
				     .until_ns = until,
				     .tid = s->tid,
				     .ready_ns = by && by->begun_ns > s->ready_ns ? by->begun_ns : s->ready_ns,
				     .by_tid = by ? by->tid : 0 };

	return SUBSCRIBERS_CALL(to, task, &m);
}

int subject_mark_wait(const struct step *s, uint64_t since, const struct subscribers *to)
{
	uint64_t ready = s->ready_ns > since && s->ready_ns < s->begun_ns ? s->ready_ns : s->begun_ns;
	int err = 0;

	if (!s->suspended_ns) /* it has not begun: nothing keeps it from that */
		ready = since;
	err = subject_mark(s, CRITICAL_AWAITING, s->where, since, ready, to);
	return err ?: subject_mark(s, CRITICAL_READY, s->what, ready, s->begun_ns, to);
}

int subject_mark_eager(const struct thread *t, const struct object *o, const struct async_task *task,
		       const struct subscribers *to)
{
	const struct step step = {
		.pid = t->pid, .tid = t->tid, .called = task->called, .task = task->number, .what = o->code
	};

	return subject_mark(&step, CRITICAL_RUNNING, o->code, o->begun_ns, o->since_ns, to);
}

int subject_mark_run(const struct frame *f, uint64_t ns, const struct subscribers *to)
{
	const struct step *s = steps_get(&to->profile->steps, f->step);

	return s ? subject_mark(s, CRITICAL_RUNNING, s->what, s->begun_ns, ns, to) : 0;
}
