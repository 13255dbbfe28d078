// SPDX-License-Identifier: MIT
/* Steps are told apart where a task's own coroutine, or a job's function, begins and ends: those inside are part. */
#include "subjects.h"

#include <errno.h>
#include <string.h>

#include "base/cold.h"
#include "objects.h"
#include "shared/marker.h"
#include "subject_parts.h"

COLD uint64_t subject_own_step(struct thread *t, struct profile *p)
{
	const struct step own = { .kind = STEP_THREAD, .pid = t->pid, .tid = t->tid, .begun_ns = t->first_ns };

	if (!t->doing.own)
		t->doing.own = steps_add(&p->steps, &own);
	return t->doing.own;
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
	return task_of_step(doing_step(&t->doing), p);
}

const struct request_ref *subject_request_in(const struct thread *t, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, doing_step(&t->doing));

	return s ? &s->request : &t->doing.request;
}

const struct request *subject_request(const struct thread *t, const struct profile *p)
{
	return requests_current(&p->requests, *subject_request_in(t, p));
}

void subject_switches(struct thread *t, struct profile *p)
{
	struct step *s = steps_get(&p->steps, doing_step(&t->doing));

	if (!s)
		t->doing.request = (struct request_ref){ 0 };
	else if (s->kind == STEP_JOB)
		s->request = t->doing.request;
}

struct code *subject_what(const struct thread *t, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, doing_step(&t->doing));

	return s ? s->what : NULL;
}

static struct called current_task(const struct thread *t, const struct profile *p)
{
	const struct step *s = subject_task(t, p);

	return s ? s->called : (struct called){ 0 };
}

int subject_begin_step(struct thread *t, struct frame *f, const struct step *step, struct profile *p)
{
	f->step = steps_add(&p->steps, step);
	f->outer_step = t->doing.step;
	t->doing.step = f->step;
	return f->step ? 0 : -ENOMEM;
}

/* The task whose coroutine the object is, or NULL. It may have ended with another object, which had the address. */
static inline struct async_task *task_of(const struct thread *t, struct object *o, struct profile *p)
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

struct step subject_step_of(const struct thread *t, const struct async_task *task, struct code *what, uint64_t ns,
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

/* The same, where sinks need only times. */
static inline void run_unseen(struct thread *t, struct frame *f, struct async_task *task, uint64_t ns)
{
	f->step = STEP_NOT_KEPT;
	f->outer_step = t->doing.step;
	t->doing.step = t->doing.named = STEP_NOT_KEPT;
	task->coroutine = f->a.code;
	async_tasks_run_unseen(task, f->step, ns);
}

static inline int run_task(struct thread *t, struct frame *f, struct async_task *task, uint64_t ns,
			   const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct step step;
	int err;

	if (to->only_times) {
		run_unseen(t, f, task, ns);
		return 0;
	}
	step = subject_step_of(t, task, f->a.code, ns, p);
	task->around = doing_step(&t->doing);
	err = subject_begin_step(t, f, &step, p);
	task->coroutine = f->a.code;
	if (to->first.task)
		err = err ?: subject_mark_wait(&step, step.suspended_ns ? step.suspended_ns : task->made_ns, to);
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
		task.ready_by = subject_step(t, p);
		task.request = *subject_request_in(t, p);
	}
	err = async_tasks_tell(&p->tasks, &task, address);
	if (o && !o->task) /* it has begun before it was told */
		o->asked = false;
	return err || !eager ? err : subject_mark_eager(t, o, async_tasks_find(&p->tasks, t->pid, address), to);
}

/* Does the event loop itself let the task go on, of a timer or a socket? It works for nobody, or in a job (trio's). */
static bool is_loops_own(const struct thread *t, const struct async_task *task, const struct profile *p)
{
	const struct step *last = steps_get(&p->steps, task->step);
	bool nobodys = !t->doing.unseen && (!t->doing.step || (t->doing.task_unseen && doing_is_around(&t->doing)));
	bool loops = nobodys || doing_step(&t->doing) == task->around;

	return loops && last && last->tid == t->tid;
}

/*
 * Since when: the event loop is late where one of its timers lets a task go on later than that was due, and only a
 * function of asyncio's own (that of sleep(), timeout()) did it.
 */
static uint64_t could_go_on(const struct thread *t, uint64_t ns, const struct profile *p)
{
	const struct step *s = steps_get(&p->steps, doing_step(&t->doing));
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
	task->ready_by = subject_step(t, p);
	return task->ready_by ? 0 : -ENOMEM;
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
	struct step *s = steps_get(&p->steps, doing_step(&t->doing));
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
	uint64_t step = subject_step(t, p);

	if (!step)
		return -ENOMEM;
	if (what == SUBJECT_REQUEST_BEGUN)
		return begin_request(t, object, s->time, p);
	return requests_end(&p->requests, t->pid, object, s->time, &p->steps, step);
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
		return subject_make_job(t, s, whom, p);
	case SUBJECT_JOB_BEGUN:
	case SUBJECT_JOB_UNSEEN:
		return subject_begin_job(t, s, whom, what == SUBJECT_JOB_BEGUN, p);
	case SUBJECT_JOB_DROPPED:
		return subject_drop_job(t, whom, p);
	case SUBJECT_JOB_AWAITED:
		return subject_await_job(t, s, whom, p);
	case SUBJECT_JOB_DONE:
		return subject_end_job(t, s, whom, p);
	case SUBJECT_REQUEST_BEGUN:
	case SUBJECT_REQUEST_ENDED:
		return take_request(t, s, what, whom, p);
	case SUBJECT_TRACED:
		take_piece(&t->doing, whom);
		return 0;
	case SUBJECT_TASK_RUNS:
		return subject_run_hidden(t, s, whom, p);
	case SUBJECT_TASK_RESTS:
	case SUBJECT_TASK_ENDS:
		return subject_rest_by_word(t, s, whom, what == SUBJECT_TASK_ENDS, to);
	case SUBJECT_TASK_BEGUN:
	case SUBJECT_TASK_UNSEEN:
	case SUBJECT_TASK_WOKEN:
	case SUBJECT_GREENLET: /* thread_greenlets.c has these */
	case SUBJECT_GREENLET_ENDED:
		break;
	}
	return 0;
}

int subject_begins(struct thread *t, struct stack *st, struct object *o, uint64_t ns, const struct subscribers *to)
{
	struct profile *p = to->profile;
	struct frame *f = stack_top(st);
	struct async_task *task = o ? task_of(t, o, p) : NULL;
	int err;

	if (t->doing.unnamed && !f->a.code->c)
		subject_name_job(&t->doing, st, f->a.code, ns, p);
	if (t->doing.hidden && o)
		subject_name_hidden(t, f->a.code, p);
	if (task && f->a.op == OP_PY_START)
		async_tasks_begun(task, ns);
	err = task ? run_task(t, f, task, ns, to) : 0;
	if (o && t->doing.named != t->doing.step)
		subject_name_step(&t->doing, f->a.code, p);
	return err;
}

/* A step ends: of a task, for which the frame around it may still work, or of a job, or a frame that runs steps. */
void subject_leave_step(struct thread *t, const struct stack *st)
{
	const struct frame *f = stack_top(st);
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
static uint64_t begun_ns(const struct frame *f, const struct async_task *task, const struct profile *p)
{
	const struct step *s;

	if (f->a.op != OP_EXTENSION)
		return f->a.start_ns;
	s = steps_get(&p->steps, f->step);
	return s ? s->begun_ns : f->step == STEP_NOT_KEPT ? task->begun_ns : f->a.start_ns;
}

/* Is it awaited by another coroutine? Then it is no task's, but has the address of one that ended in its first step. */
static bool is_awaited(const struct stack *st, const struct frame *f)
{
	return f > st->frames && (f - 1)->a.code->coroutine;
}

/* It may be an eager task's, on the stack of what made that. */
static inline int note_eager(struct thread *t, const struct frame *f, struct object *o, struct profile *p)
{
	bool first = f->a.code->coroutine && f->a.op == OP_PY_START;

	o->eager.step = first ? subject_step(t, p) : 0;
	if (!first)
		return 0;
	o->eager.where = t->doing.yielded;
	o->eager.by = doing_awaited_by(&t->doing, p->codes);
	return o->eager.step ? 0 : -ENOMEM;
}

bool subject_is_tasks(const struct thread *t, struct object *o, struct profile *p)
{
	return task_of(t, o, p);
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
		err = subject_rest_thrown(t, st, f, ns, how, to);
	}
	if (!err && task && !f->step && !task->step && is_awaited(st, f)) {
		err = async_tasks_end(&p->tasks, task, o->address, 0, ns);
		o->task = task = NULL;
	}
	if (!err && task && !f->step) /* its first yield tells which one it is */
		err = run_task(t, f, task, f->a.op == OP_EXTENSION && !o->older ? o->begun_ns : f->a.start_ns, to);
	if (task && to->first.task)
		err = err ?: subject_mark_run(f, ns, to);
	if (!err && o && !task && how == LEAVE_YIELD)
		err = note_eager(t, f, o, p);
	if (f->step)
		subject_leave_step(t, st);
	if (err || !task)
		return err;
	if (how == LEAVE_RETURN || how == LEAVE_UNWIND) {
		t->doing.ended = (struct ended){ o->address, f->step };
		o->task = NULL;
		return async_tasks_end(&p->tasks, task, o->address, ns - begun_ns(f, task, p), ns);
	}
	async_tasks_suspend(task, ns - begun_ns(f, task, p), ns, how == LEAVE_YIELD ? t->doing.yielded : NULL,
			    how == LEAVE_YIELD ? doing_awaited_by(&t->doing, p->codes) : NULL);
	return 0;
}

bool subject_of_stack(const struct stack *st)
{
	uint32_t i = 0;

	while (i < st->nframes && !st->frames[i].step)
		i++;
	return i < st->nframes;
}
