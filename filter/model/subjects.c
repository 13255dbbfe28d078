// SPDX-License-Identifier: MIT
/* Steps are told apart where a task's own coroutine, or a job's function, begins and ends: those inside are part. */
#include "subjects.h"

#include <errno.h>
#include <string.h>

#include "base/cold.h"
#include "code/origin.h"
#include "objects.h"
#include "profile.h"
#include "shared/marker.h"
#include "thread.h"

/* A frame's step while it runs a task's: what it does after that is still for the task. */
#define RUNS_TASK UINT64_MAX

/* Is it in no step of those that have begun since a word told of functions that are left out? */
static bool is_around(const struct doing *d)
{
	return d->step == d->around;
}

/* The step that the thread works in; 0: its own. */
static uint64_t working(const struct doing *d)
{
	return d->unseen && is_around(d) ? d->unseen : d->step;
}

/* The thread's own. 0: no memory. */
static COLD uint64_t own_step(struct thread *t, struct profile *p)
{
	const struct step own = { .kind = STEP_THREAD, .pid = t->pid, .tid = t->tid, .begun_ns = t->first_ns };

	if (!t->doing.own)
		t->doing.own = steps_add(&p->steps, &own);
	return t->doing.own;
}

/* The one that the thread works in, which there is. Likewise. */
static inline uint64_t current_step(struct thread *t, struct profile *p)
{
	return working(&t->doing) ?: own_step(t, p);
}

#define HANDED_ON 16 /* at most: jobs that make jobs */

/* The task that a step is for, or NULL. */
static const struct step *task_of_step(uint64_t number, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, number);

	for (unsigned n = 0; s && s->kind == STEP_JOB && n < HANDED_ON; n++)
		s = steps_get(&p->steps, s->ready_by);
	return s && s->kind == STEP_TASK ? s : NULL;
}

const struct step *subject_task(const struct thread *t, const struct profile *p)
{
	return task_of_step(working(&t->doing), p);
}

/* Where it is kept for which request the thread works. */
static const struct request_ref *request_in(const struct thread *t, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, working(&t->doing));

	return s ? &s->request : &t->doing.request;
}

const struct request *subject_request(const struct thread *t, const struct profile *p)
{
	return requests_current(&p->requests, *request_in(t, p));
}

void subject_switches(struct thread *t, struct profile *p)
{
	struct step *s = steps_get(&p->steps, working(&t->doing));

	if (!s)
		t->doing.request = (struct request_ref){ 0 };
	else if (s->kind == STEP_JOB)
		s->request = t->doing.request;
}

struct code *subject_what(const struct thread *t, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, working(&t->doing));

	return s ? s->what : NULL;
}

static struct called current_task(const struct thread *t, const struct profile *p)
{
	const struct step *s = subject_task(t, p);

	return s ? s->called : (struct called){ 0 };
}

/* The step of an activation begins: those inside it belong to it. 0 or -ENOMEM. */
static int begin_step(struct thread *t, struct frame *f, const struct step *step, struct profile *p)
{
	f->step = steps_add(&p->steps, step);
	f->outer_step = t->doing.step;
	t->doing.step = f->step;
	return f->step ? 0 : -ENOMEM;
}

/* The task whose coroutine the object is, or NULL. It may have ended with another object, which had the address. */
static struct async_task *task_of(const struct thread *t, struct object *o, struct profile *p)
{
	if (!o->address || (o->asked && !o->task))
		return o->task = NULL;
	o->asked = true;
	o->task = async_tasks_find_again(&p->tasks, t->pid, o->address);
	if (o->task)
		o->task->object = o;
	return o->task;
}

void subject_name(const struct thread *t, struct object *o, struct profile *p)
{
	const struct async_task *task = task_of(t, o, p);

	if (!task && t->doing.stepping) /* what it awaits is thrown into */
		task = async_tasks_find(&p->tasks, t->pid, t->doing.stepping);
	o->called = task ? task->called : current_task(t, p);
}

static int tell_mark(const struct step *s, enum critical_kind kind, const struct code *what, uint64_t from,
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

/* A part of the life of a task. */
static inline int mark(const struct step *s, enum critical_kind kind, const struct code *what, uint64_t from,
		       uint64_t until, const struct subscribers *to)
{
	return to->first.task && from < until ? tell_mark(s, kind, what, from, until, to) : 0;
}

/* What it did since its step before, or since it was made. */
static int mark_wait(const struct step *s, uint64_t since, const struct subscribers *to)
{
	uint64_t ready = s->ready_ns > since && s->ready_ns < s->begun_ns ? s->ready_ns : s->begun_ns;
	int err = 0;

	if (!s->suspended_ns) /* it has not begun: nothing keeps it from that */
		ready = since;
	err = mark(s, CRITICAL_AWAITING, s->where, since, ready, to);
	return err ?: mark(s, CRITICAL_READY, s->what, ready, s->begun_ns, to);
}

static struct step step_of(const struct thread *t, const struct async_task *task, struct code *what, uint64_t ns,
			   const struct profile *p)
{
	const struct step *before = steps_get(&p->steps, task->step);

	return (struct step){
		.kind = STEP_TASK,
		.pid = t->pid,
		.tid = t->tid,
		.called = task->called,
		.task = task->number,
		.what = what,
		.begun_ns = ns,
		.ready_ns = task->ready_ns,
		.ready_by = task->ready_by,
		.before = task->step,
		.suspended_ns = task->suspended_ns,
		.where = task->where,
		.by = task->awaited_by,
		.request = before ? before->request : task->request,
	};
}

static int run_task(struct thread *t, struct frame *f, struct async_task *task, uint64_t ns,
		    const struct subscribers *to)
{
	struct profile *p = to->profile;
	const struct step step = step_of(t, task, f->a.code, ns, p);
	int err;

	task->around = working(&t->doing);
	err = begin_step(t, f, &step, p);
	task->coroutine = f->a.code;
	err = err ?: mark_wait(&step, step.suspended_ns ? step.suspended_ns : task->made_ns, to);
	return err ?: async_tasks_run(&p->tasks, task, f->step, ns);
}

/* An eager task (asyncio, since CPython 3.12) is told once it is suspended: before, it ran in the step that made it. */
static void made_eagerly(struct async_task *task, const struct object *o, const struct profile *p)
{
	const struct step *in = task_of_step(o->eager.step, p);

	task->older = false;
	task->made_ns = o->begun_ns;
	task->by = in ? in->called : (struct called){ 0 };
	task->coroutine = o->code;
	task->running_ns = o->since_ns - o->begun_ns;
	task->step = o->eager.step;
	task->suspended_ns = o->since_ns;
	task->where = o->eager.where;
	task->awaited_by = o->eager.by;
}

static bool is_eager(const struct thread *t, const struct object *o, uint64_t address, const struct profile *p)
{
	return o && !o->older && o->suspended && o->eager.step && !async_tasks_find(&p->tasks, t->pid, address);
}

/* What it ran is shown where it ran, too. */
static int mark_eager(const struct thread *t, const struct object *o, const struct async_task *task,
		      const struct subscribers *to)
{
	const struct step step = {
		.pid = t->pid, .tid = t->tid, .called = task->called, .task = task->number, .what = o->code
	};

	return mark(&step, CRITICAL_RUNNING, o->code, o->begun_ns, o->since_ns, to);
}

static int tell_task(struct thread *t, const struct sample *s, enum subject what, uint64_t address,
		     const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct async_task task = {
		.called = t->doing.called, .pid = t->pid, .older = what == SUBJECT_TASK_OLDER, .made_ns = s->time
	};
	struct object *o = objects_find(t->objects, address);
	bool eager = task.older && is_eager(t, o, address, p);
	int err;

	if (eager)
		made_eagerly(&task, o, p);
	if (what == SUBJECT_TASK_MADE) {
		task.by = current_task(t, p);
		task.ready_ns = s->time;
		task.ready_by = current_step(t, p);
		task.request = *request_in(t, p);
	}
	err = async_tasks_tell(&p->tasks, &task, address);
	if (o && !o->task) /* it has begun before it was told */
		o->asked = false;
	return err || !eager ? err : mark_eager(t, o, async_tasks_find(&p->tasks, t->pid, address), to);
}

/* Does the event loop itself let the task go on, of a timer or a socket? It works for nobody, or in a job (trio's). */
static bool is_loops_own(const struct thread *t, const struct async_task *task, const struct profile *p)
{
	const struct step *last = steps_get(&p->steps, task->step);
	bool nobodys = !t->doing.unseen && (!t->doing.step || (t->doing.task_unseen && is_around(&t->doing)));
	bool loops = nobodys || working(&t->doing) == task->around;

	return loops && last && last->tid == t->tid;
}

/*
 * Since when: the event loop is late where one of its timers lets a task go on later than that was due, and only a
 * function of asyncio's own (that of sleep(), timeout()) did it.
 */
static uint64_t could_go_on(const struct thread *t, uint64_t ns, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, working(&t->doing));
	bool timer = s && s->kind == STEP_JOB && s->ready_ns && !s->ready_by;

	return timer && s->what && strstr(s->what->file, "/asyncio/") && s->ready_ns < ns ? s->ready_ns : ns;
}

/*
 * Event loops let tasks go on in turns. So of what went on after this coroutine the last time its lines of the
 * processor's cache are fetched, and, as that begins, those of what it awaits.
 */
static void fetch_next(struct doing *d, struct object *o)
{
	d->next = o;
	if (!o)
		return;
	if (d->round)
		d->round->then = o;
	d->round = o;
	object_fetch(o->then);
	if (o->awaits)
		__builtin_prefetch(o->awaits->held.outermost);
}

/* The same a while later, when those lines are there. */
static void fetch_awaited(const struct doing *d)
{
	const struct object *o = d->round ? d->round->then : NULL;

	if (!o)
		return;
	object_fetch(o->awaits);
	__builtin_prefetch(o->task);
}

/* The first that lets it go on is what counts. */
static int wake_task(struct thread *t, uint64_t ns, uint64_t address, struct profile *p)
{
	struct async_task *task = async_tasks_find_again(&p->tasks, t->pid, address);

	fetch_awaited(&t->doing);
	if (!task || task->ready_ns)
		return 0;
	task->ready_ns = could_go_on(t, ns, p);
	if (is_loops_own(t, task, p))
		return 0;
	task->ready_by = current_step(t, p);
	return task->ready_by ? 0 : -ENOMEM;
}

static int make_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_job(&p->tasks, t->pid, address);

	if (!j)
		return -ENOMEM;
	*j = (struct job){ .ready_ns = s->time + t->doing.due_ns,
			   .ready_by = t->doing.due_ns ? 0 : current_step(t, p),
			   .request = *request_in(t, p) };
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

/* Its own function is still to come. */
static void await_name(struct doing *d, uint64_t job)
{
	d->unnamed = job;
	d->handed_rank = 0;
}

/* The innermost activation does it. One that was never handed over as a whole (a reader of a socket) is its own. */
static int begin_job(struct thread *t, const struct sample *s, uint64_t address, bool seen, struct profile *p)
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
		await_name(&t->doing, t->doing.unseen);
		return t->doing.unseen ? 0 : -ENOMEM;
	}
	if (!f || (f->step && !is_next_job(t, f, p)))
		return 0;
	step.what = f->a.code;
	err = f->step ? begin_next(t, f, &step, p) : begin_step(t, f, &step, p);
	await_name(&t->doing, f->step);
	return err;
}

/* The innermost activation does for a task what is left to do after its end: that is part of its last step. */
static void go_on_after_end(struct thread *t, struct frame *f, uint64_t address)
{
	if (!f || f->step || !t->doing.ended.step || t->doing.ended.address != address)
		return;
	f->step = t->doing.ended.step;
	f->outer_step = t->doing.step;
	t->doing.step = f->step;
}

/* The innermost activation runs a task's step. */
static void begin_task(struct thread *t, const struct stack *st, uint64_t address, bool seen, struct profile *p)
{
	struct frame *f = stack_top(st);
	const struct async_task *task = async_tasks_find_again(&p->tasks, t->pid, address);

	if (!task && seen)
		go_on_after_end(t, f, address);
	t->doing.unseen = t->doing.unnamed = 0;
	t->doing.around = t->doing.step;
	t->doing.task_unseen = !seen;
	t->doing.beginning = 0;
	t->doing.stepping = address;
	t->doing.step_depth = t->depth;
	fetch_next(&t->doing, task ? task->object : NULL);
	if (!task || !seen || !f || f->step)
		return;
	f->step = RUNS_TASK;
	f->outer_step = t->doing.step;
}

/* The innermost activation waits for it, and ends when it does not any more; of one that is left out 0 tells that. */
static int await_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
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

/* The first time is what lets others go on that wait for it (an event may be set again). */
static int end_job(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_known_job(&p->tasks, t->pid, address);

	if (!j || !j->awaited)
		return 0;
	j->awaited = false;
	j->done_ns = s->time;
	j->done_by = current_step(t, p);
	return j->done_by ? 0 : -ENOMEM;
}

static int drop_job(struct thread *t, uint64_t address, struct profile *p)
{
	struct job *j = async_tasks_job(&p->tasks, t->pid, address);

	if (j)
		*j = (struct job){ 0 };
	return j ? 0 : -ENOMEM;
}

static void take_name(struct thread *t, const struct sample *s)
{
	bool numbered = s->payload & MARKER_NUMBERED_TASK;

	t->doing.called = (struct called){ s->named, numbered ? s->payload & (MARKER_NUMBERED_TASK - 1) : 0 };
}

#define PIECES (MARKER_TRACE_PIECES + MARKER_SPAN_PIECES)

/* They come in order; else some are missing. */
static void take_piece(struct doing *d, uint64_t payload)
{
	uint64_t at = payload >> MARKER_PIECE_SHIFT;

	d->pieces = at == d->pieces || !at ? (unsigned int)at : PIECES + 1;
	if (d->pieces < PIECES)
		d->traced.pieces[d->pieces++] = (uint32_t)payload;
}

static int begin_request(struct thread *t, uint64_t object, uint64_t ns, struct profile *p)
{
	struct step *s = steps_get(&p->steps, working(&t->doing));
	struct request_ref *in = s ? &s->request : &t->doing.request, outer = *in;
	struct request *q;

	if (requests_begin(&p->requests, t->pid, object, &t->doing.called, ns))
		return -ENOMEM;
	q = requests_open(&p->requests, t->pid, object);
	q->outer = outer;
	*in = (struct request_ref){ q, q->number };
	if (t->doing.pieces == PIECES)
		q->traced = t->doing.traced;
	t->doing.pieces = 0;
	return 0;
}

static int take_request(struct thread *t, const struct sample *s, enum subject what, uint64_t object, struct profile *p)
{
	uint64_t step = current_step(t, p);

	if (!step)
		return -ENOMEM;
	if (what == SUBJECT_REQUEST_BEGUN)
		return begin_request(t, object, s->time, p);
	return requests_end(&p->requests, t->pid, object, s->time, &p->steps, step);
}

/* The program's own coroutine that awaits where the task is suspended; NULL: it is that one, or there is none. */
static const struct code *awaited_by(const struct doing *d, const struct codes *codes)
{
	bool own = d->yielded && d->yielded_by != d->yielded && origin_rank(codes, d->yielded_by);

	return own ? d->yielded_by : NULL;
}

/* The task works from here on; its own coroutine is left out. */
static int begin_hidden(struct thread *t, struct async_task *task, uint64_t address, uint64_t ns, struct profile *p)
{
	const struct step step = step_of(t, task, NULL, ns, p);
	uint64_t number = steps_add(&p->steps, &step);

	if (!number)
		return -ENOMEM;
	task->hidden = true;
	task->around = working(&t->doing);
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

/* Such a coroutine begins or goes on. One that another coroutine awaits is no task's, as in is_awaited(). */
static int run_hidden(struct thread *t, const struct sample *s, uint64_t address, struct profile *p)
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
	int err;

	if (!step)
		return 0;
	err = mark_wait(step, step->suspended_ns ? step->suspended_ns : task->made_ns, to);
	err = err ?: mark(step, CRITICAL_RUNNING, step->what, step->begun_ns, ns, to);
	leave_hidden(t, top, task);
	if (ends)
		t->doing.ended = (struct ended){ address, task->step };
	if (!err && ends)
		return async_tasks_end(&p->tasks, task, address, ns - step->begun_ns, ns);
	async_tasks_suspend(task, ns - step->begun_ns, ns, t->doing.yielded, awaited_by(&t->doing, p->codes));
	return err;
}

static int rest_by_word(struct thread *t, const struct sample *s, uint64_t address, bool ends,
			const struct subscribers *to)
{
	struct stack *st = thread_stack(t, s->interpreter);

	return st ? rest_hidden(t, stack_top(st), address, s->time, ends, to) : -ENOMEM;
}

/* Of a task whose own coroutine is not seen: the outermost one that is, of those that are most the program's own. */
static void name_hidden(struct thread *t, struct code *code, struct profile *p)
{
	struct async_task *task = async_tasks_find(&p->tasks, t->pid, t->doing.hidden);
	struct step *step = task ? steps_get(&p->steps, task->step) : NULL;

	if (!step || !code->coroutine ||
	    (step->what && origin_rank(p->codes, code) <= origin_rank(p->codes, step->what)))
		return;
	step->what = code;
	task->coroutine = task->coroutine ? task->coroutine : code;
}

int subject_steps(struct thread *t, const struct stack *st, uint64_t payload, uint64_t ns, struct profile *p)
{
	enum subject what = marker_subject_what(payload);
	uint64_t whom = payload & MARKER_SUBJECT_MAX;

	if (what == SUBJECT_TASK_WOKEN)
		return wake_task(t, ns, whom, p);
	begin_task(t, st, whom, what == SUBJECT_TASK_BEGUN, p);
	return 0;
}

static int step_by_word(struct thread *t, const struct sample *s, struct profile *p)
{
	const struct stack *st = thread_stack(t, s->interpreter);

	return st ? subject_steps(t, st, s->payload, s->time, p) : -ENOMEM;
}

int subject_word(struct thread *t, const struct sample *s, const struct subscribers *to)
{
	struct profile *p = to->profile;
	enum subject what = marker_subject_what(s->payload);
	uint64_t whom = s->payload & MARKER_SUBJECT_MAX;

	if (subject_is_step(what))
		return step_by_word(t, s, p);
	switch (what) {
	case SUBJECT_NAME:
		take_name(t, s);
		return 0;
	case SUBJECT_TASK_MADE:
	case SUBJECT_TASK_OLDER:
		return tell_task(t, s, what, whom, to);
	case SUBJECT_TASK_STARTED:
		t->doing.beginning = whom;
		return 0;
	case SUBJECT_DUE:
		t->doing.due_ns = whom;
		return 0;
	case SUBJECT_JOB_MADE:
		return make_job(t, s, whom, p);
	case SUBJECT_JOB_BEGUN:
	case SUBJECT_JOB_UNSEEN:
		return begin_job(t, s, whom, what == SUBJECT_JOB_BEGUN, p);
	case SUBJECT_JOB_DROPPED:
		return drop_job(t, whom, p);
	case SUBJECT_JOB_AWAITED:
		return await_job(t, s, whom, p);
	case SUBJECT_JOB_DONE:
		return end_job(t, s, whom, p);
	case SUBJECT_REQUEST_BEGUN:
	case SUBJECT_REQUEST_ENDED:
		return take_request(t, s, what, whom, p);
	case SUBJECT_TRACED:
		take_piece(&t->doing, whom);
		return 0;
	case SUBJECT_TASK_RUNS:
		return run_hidden(t, s, whom, p);
	case SUBJECT_TASK_RESTS:
	case SUBJECT_TASK_ENDS:
		return rest_by_word(t, s, whom, what == SUBJECT_TASK_ENDS, to);
	case SUBJECT_TASK_BEGUN:
	case SUBJECT_TASK_UNSEEN:
	case SUBJECT_TASK_WOKEN:
	case SUBJECT_GREENLET: /* thread_greenlets.c has these */
	case SUBJECT_GREENLET_ENDED:
		break;
	}
	return 0;
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

/* A function begins that is, or that the function that was handed over may have called. */
static void name_job(struct doing *d, const struct stack *st, struct code *code, uint64_t ns, const struct profile *p)
{
	struct step *job = steps_get(&p->steps, d->unnamed);

	if (!job || (d->handed_rank && !stack_has_marked(st, &d->handed))) {
		d->unnamed = 0;
	} else if (!d->handed_rank && is_handed_over(job, st, code)) {
		d->handed = stack_mark(st, ns);
		name_by(d, job, code, p);
	} else if (d->handed_rank && working(d) == d->unnamed && is_more_own(d, code, p)) {
		name_by(d, job, code, p);
	}
}

/* A task's step is named by the first of its coroutines that are most the program's own: the outermost one. */
static void name_step(struct doing *d, struct code *code, const struct profile *p)
{
	struct step *s = code->coroutine ? steps_get(&p->steps, d->step) : NULL;

	if (!s || s->kind != STEP_TASK || !s->what)
		return;
	if (origin_rank(p->codes, code) > origin_rank(p->codes, s->what))
		s->what = code;
	if (origin_rank(p->codes, s->what) == ORIGIN_RANK_MOST)
		d->named = d->step;
}

int subject_begins(struct thread *t, struct stack *st, struct object *o, uint64_t ns, const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct frame *f = stack_top(st);
	struct async_task *task = o ? task_of(t, o, p) : NULL;
	int err;

	if (t->doing.unnamed && !f->a.code->c)
		name_job(&t->doing, st, f->a.code, ns, p);
	if (t->doing.hidden && o)
		name_hidden(t, f->a.code, p);
	if (task && f->a.op == OP_PY_START)
		async_tasks_begun(task, ns);
	err = task ? run_task(t, f, task, ns, to) : 0;
	if (o && t->doing.named != t->doing.step)
		name_step(&t->doing, f->a.code, p);
	return err;
}

/* A step ends: of a task, for which the frame around it may still work, or of a job, or a frame that runs steps. */
static void end_step(struct thread *t, const struct stack *st, const struct frame *f)
{
	const struct frame *around = f > st->frames ? f - 1 : NULL;

	if (around && around->step == RUNS_TASK)
		return;
	if (f->step != RUNS_TASK && t->doing.task_unseen)
		t->doing.unseen = f->step;
	if (f->step == t->doing.unnamed)
		t->doing.unnamed = 0;
	if (f->step == RUNS_TASK)
		t->doing.beginning = 0;
	t->doing.step = f->outer_step;
}

/* Is trio itself made of it? Few code objects are asked often, so the answer stays with them. */
static bool is_trios(struct code *code)
{
	enum { NO = 1, YES };

	if (!code->trio)
		code->trio = strstr(code->file, "/trio/_core/") ? YES : NO;
	return code->trio == YES;
}

/* In which coroutine a task is suspended: the first of those that yield together, without what trio is made of. */
static inline void note_yield(struct doing *d, const struct frame *f, enum leave_how how, const struct codes *codes)
{
	struct code *code = f->a.code;

	if (how != LEAVE_YIELD || !code->coroutine)
		return;
	if (!d->yielded && is_trios(code))
		return;
	if (!d->yielded)
		d->yielded = d->yielded_by = code;
	else if (origin_rank(codes, code) > origin_rank(codes, d->yielded_by))
		d->yielded_by = code;
}

/* Since when it works for its task. A greenlet that it waits for works for that, too. */
static uint64_t begun_ns(const struct frame *f, const struct profile *p)
{
	const struct step *s = f->step ? steps_get(&p->steps, f->step) : NULL;

	return s && f->a.op == OP_EXTENSION ? s->begun_ns : f->a.start_ns;
}

/* A task's step ends. */
static int mark_run(const struct frame *f, uint64_t ns, const struct subscribers *to)
{
	const struct step *s = steps_get(&to->profile->steps, f->step);

	return s ? mark(s, CRITICAL_RUNNING, s->what, s->begun_ns, ns, to) : 0;
}

/* Is it awaited by another coroutine? Then it is no task's, but has the address of one that ended in its first step. */
static bool is_awaited(const struct stack *st, const struct frame *f)
{
	return f > st->frames && (f - 1)->a.code->coroutine;
}

/* What a hidden task awaits is suspended again, after something was thrown into it: so is the task. */
static int rest_thrown(struct thread *t, const struct stack *st, const struct frame *f, uint64_t ns, enum leave_how how,
		       const struct subscribers *to)
{
	if (!t->doing.hidden || t->depth != t->doing.thrown_depth || how != LEAVE_YIELD)
		return 0;
	t->doing.thrown_depth = 0;
	return rest_hidden(t, f > st->frames ? f - 1 : NULL, t->doing.hidden, ns, false, to);
}

/* It may be an eager task's, on the stack of what made that. */
static inline int note_eager(struct thread *t, const struct frame *f, struct object *o, struct profile *p)
{
	bool first = f->a.code->coroutine && f->a.op == OP_PY_START;
	uint64_t step = first ? current_step(t, p) : 0;

	o->eager = (struct eager){ step, t->doing.yielded, awaited_by(&t->doing, p->codes) };
	return first && !step ? -ENOMEM : 0;
}

int subject_yields(struct thread *t, const struct frame *f, struct object *o, struct profile *p)
{
	note_yield(&t->doing, f, LEAVE_YIELD, p->codes);
	return note_eager(t, f, o, p);
}

int subject_ends(struct thread *t, struct stack *st, struct object *o, uint64_t ns, enum leave_how how,
		 const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct frame *f = stack_top(st);
	struct async_task *task = o ? task_of(t, o, p) : NULL;
	int err = 0;

	if (o) {
		note_yield(&t->doing, f, how, p->codes);
		err = rest_thrown(t, st, f, ns, how, to);
	}
	if (!err && task && !f->step && !task->step && is_awaited(st, f)) {
		err = async_tasks_end(&p->tasks, task, o->address, 0, ns);
		o->task = task = NULL;
	}
	if (!err && task && !f->step) /* its first yield tells which one it is */
		err = run_task(t, f, task, f->a.op == OP_EXTENSION && !o->older ? o->begun_ns : f->a.start_ns, to);
	if (task)
		err = err ?: mark_run(f, ns, to);
	if (!err && o && !task && how == LEAVE_YIELD)
		err = note_eager(t, f, o, p);
	if (f->step)
		end_step(t, st, f);
	if (err || !task)
		return err;
	if (how == LEAVE_RETURN || how == LEAVE_UNWIND) {
		t->doing.ended = (struct ended){ o->address, f->step };
		o->task = NULL;
		return async_tasks_end(&p->tasks, task, o->address, ns - begun_ns(f, p), ns);
	}
	async_tasks_suspend(task, ns - begun_ns(f, p), ns, how == LEAVE_YIELD ? t->doing.yielded : NULL,
			    how == LEAVE_YIELD ? awaited_by(&t->doing, p->codes) : NULL);
	return 0;
}

bool subject_of_stack(const struct stack *st)
{
	uint32_t i = 0;

	while (i < st->nframes && !st->frames[i].step)
		i++;
	return i < st->nframes;
}
