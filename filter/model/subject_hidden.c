// SPDX-License-Identifier: MIT
/* Tasks whose own coroutine is left out: words tell where that begins, rests and ends. */
#include <errno.h>

#include "subject_parts.h"

/* The task works from here on; its own coroutine is left out. */
static int begin_hidden(struct thread *t, struct async_task *task, uint64_t address, uint64_t ns, struct profile *p)
{
	const struct step step = subject_step_of(t, task, NULL, ns, p);
	uint64_t number = steps_add(&p->steps, &step);

	if (!number)
		return -ENOMEM;
	task->hidden = true;
	task->around = doing_step(&t->doing);
	task->outer_step = t->doing.step;
	t->doing.step = number;
	t->doing.hidden = address;
	t->doing.thrown_depth = 0;
	t->doing.yielded = NULL;
	return async_tasks_run(&p->tasks, task, number, ns);
}

int subject_thrown(struct thread *t, uint64_t address, uint64_t ns, struct profile *p)
{
	struct async_task *task = async_tasks_find(&p->tasks, t->pid, address);
	int err;

	if (!task || !task->hidden || !task->suspended_ns || t->doing.hidden)
		return 0;
	err = begin_hidden(t, task, address, ns, p);
	t->doing.thrown_depth = t->depth + 1;
	return err;
}

int subject_run_hidden(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct stack *st = thread_stack(t, s->interpreter);
	struct async_task *task = async_tasks_find(&p->tasks, t->pid, address);
	const struct frame *top = st ? stack_top(st) : NULL;
	bool starts = t->doing.beginning == address;

	if (!st)
		return -ENOMEM;
	t->doing.beginning = 0;
	if (t->doing.hidden == address && t->doing.thrown_depth) { /* what was thrown into what it awaits comes out */
		t->doing.thrown_depth = 0;
		return 0;
	}
	if (task && starts && (t->doing.hidden || (top && top->a.code->coroutine)))
		return async_tasks_end(&p->tasks, task, address, 0, s->time);
	if (task && starts)
		async_tasks_begun(task, s->time);
	return task ? begin_hidden(t, task, address, s->time, p) : 0;
}

/* The frame around it may still work for the task. */
static void leave_hidden(struct thread *t, const struct frame *top, const struct async_task *task)
{
	t->doing.hidden = 0;
	if (t->doing.task_unseen)
		t->doing.unseen = task->step;
	if (!top || top->step != RUNS_TASK)
		t->doing.step = task->outer_step;
}

/* It is suspended, or ends, in the frame `top` or none. What the step is called is known only now. */
static int rest_hidden(struct thread *t, const struct frame *top, uint64_t address, uint64_t ns, bool ends,
		       const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct async_task *task = async_tasks_find(&p->tasks, t->pid, address);
	const struct step *step = task && t->doing.hidden == address ? steps_get(&p->steps, task->step) : NULL;
	int err = 0;

	if (!step)
		return 0;
	if (to->first.task)
		err = subject_mark_wait(step, step->suspended_ns ? step->suspended_ns : task->made_ns, to);
	err = err ?: subject_mark(step, CRITICAL_RUNNING, step->what, step->begun_ns, ns, to);
	leave_hidden(t, top, task);
	if (ends)
		t->doing.ended = (struct ended){ address, task->step };
	if (!err && ends)
		return async_tasks_end(&p->tasks, task, address, ns - step->begun_ns, ns);
	async_tasks_suspend(task, ns - step->begun_ns, ns, t->doing.yielded, doing_awaited_by(&t->doing, p->codes));
	return err;
}

int subject_rest_by_word(struct thread *t, const struct sample *s, uint64_t address, bool ends,
			 const struct subscribers *to)
{
	struct stack *st = thread_stack(t, s->interpreter);

	return st ? rest_hidden(t, stack_top(st), address, s->time, ends, to) : -ENOMEM;
}

int subject_rest_thrown(struct thread *t, const struct stack *st, const struct frame *f, uint64_t ns,
			enum leave_how how, const struct subscribers *to)
{
	if (!t->doing.hidden || t->depth != t->doing.thrown_depth || how != LEAVE_YIELD)
		return 0;
	t->doing.thrown_depth = 0;
	return rest_hidden(t, f > st->frames ? f - 1 : NULL, t->doing.hidden, ns, false, to);
}
