/* SPDX-License-Identifier: MIT */
/*
 * duty.c - see duty.h. The first thread to run after an edge brings its interpreter to the schedule's current state: a
 * missed edge is made up for, or skipped.
 */
#include <pthread.h>
#include <stdlib.h>

#include "clock.h"
#include "duty.h"
#include "pending.h"
#include "rings.h"
#include "schedule.h"
#include "shared/ticks.h"
#include "table.h"
#include "timer.h"
#include "world.h"

/* An interpreter that takes part. */
struct part {
	struct part *next;
	PyInterpreterState *interpreter;
	struct codes *codes;
	int tool, events;
	atomic_bool asked; /* a pending call is on its way */
	uint64_t since;	   /* it takes part, or this process exists */
	uint64_t window;   /* the open one; 0: none is */
};

/*
 * The list has a lock of its own: the timer's thread holds it while it adds pending calls, which takes a lock of
 * CPython's that may be held, too, where the process lock is wanted (world.h, fork).
 */
static struct part *parts;
static pthread_mutex_t parts_lock = PTHREAD_MUTEX_INITIALIZER;

/* Without a GIL: held by whoever switches events and windows, which calls Python. */
#ifdef Py_GIL_DISABLED
static PyMutex turn;
#define TURN_BEGIN() PyMutex_Lock(&turn)
#define TURN_END()   PyMutex_Unlock(&turn)
#else
#define TURN_BEGIN() (void)0
#define TURN_END()   (void)0
#endif

static const struct ring_duty *duty(void)
{
	return &rings_config()->duty;
}

static struct part *part_of(const struct codes *codes, PyInterpreterState *interpreter)
{
	struct part *p;

	pthread_mutex_lock(&parts_lock);
	p = parts;
	while (p && (codes ? p->codes != codes : p->interpreter != interpreter))
		p = p->next;
	pthread_mutex_unlock(&parts_lock);
	return p;
}

/* As the program's own sys.monitoring.set_events() would, if the tool id is still ours. */
static void set_events(const struct part *p, int events)
{
	PyObject *monitoring = PySys_GetObject("monitoring"); /* borrowed */
	PyObject *name = monitoring ? PyObject_CallMethod(monitoring, "get_tool", "i", p->tool) : NULL;
	PyObject *done = NULL;

	if (name && PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "ocular") == 0)
		done = PyObject_CallMethod(monitoring, "set_events", "ii", p->tool, events);
	PyErr_Clear();
	Py_XDECREF(name);
	Py_XDECREF(done);
}

static void open_window(struct part *p, uint64_t number)
{
	if (lanes_deserted())
		return;
	p->codes->window = (uint32_t)((number - 1) % MARKER_OFFSET_MAX + 1);
	p->window = number;
	set_events(p, p->events);
}

/* One line for each window, by the interpreter that traced first: the others' are the same. */
static void write_window(const struct part *p, uint64_t from, uint64_t at)
{
	struct text t = { 0 };

	if (p->codes->view != LANE_FIRST || from >= at) /* forked after the window ended */
		return;
	text_printf(&t, "{\"kind\":\"window\",\"number\":%llu,\"from_ns\":%llu,\"at_ns\":%llu}",
		    (unsigned long long)p->window, (unsigned long long)from, (unsigned long long)at);
	table_add(&t);
	text_free(&t);
}

struct shut {
	struct codes *codes;
	uint64_t tsc;
};

static void shut(void *arg)
{
	struct shut *s = arg;

	lanes_shut(s->codes->interpreter, s->tsc);
	s->codes->window = LANE_SHUT;
}

static void shut_lanes(struct codes *codes, uint64_t tsc)
{
	struct shut s = { codes, tsc };

	world_stop(shut, &s);
}

/*
 * Whatever time it is now: since the window's end no thread has run Python. If a process sleeps through it, its sleep
 * must not count as traced.
 */
static void close_window(struct part *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), tsc = ticks_now();
	uint64_t begin = schedule_begin(duty(), p->window), end = begin + duty()->window_ns;
	uint64_t late = now > end ? now - end : 0;

	set_events(p, 0);
	shut_lanes(p->codes, tsc - (uint64_t)((double)late * (double)rings_config()->tsc_hz / 1e9));
	write_window(p, begin > p->since ? begin : p->since, now - late);
	p->window = 0;
}

static void follow_schedule(struct part *p)
{
	uint64_t number = schedule_window(duty(), clock_ns(CLOCK_MONOTONIC));

	if (p->window && p->window != number)
		close_window(p);
	if (!p->window && number)
		open_window(p, number);
}

/* The pending call. Its interpreter may have stopped tracing meanwhile. */
static int edge(void *unused)
{
	PyObject *pending = PyErr_GetRaisedException();
	struct part *p;

	TURN_BEGIN();
	p = part_of(NULL, PyInterpreterState_Get());
	if (p) {
		atomic_store(&p->asked, false);
		follow_schedule(p);
	}
	TURN_END();
	PyErr_SetRaisedException(pending);
	return 0;
}

/* By the timer's thread. One call at a time: the queue is the program's, too, and short. */
static void ask_all(void)
{
	pthread_mutex_lock(&parts_lock);
	for (struct part *p = parts; p; p = p->next)
		if (!atomic_exchange(&p->asked, true) && _PyEval_AddPendingCall(p->interpreter, edge, NULL, 0))
			atomic_store(&p->asked, false);
	pthread_mutex_unlock(&parts_lock);
}

static struct part *add_part(struct codes *codes, int tool, int events)
{
	struct part *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->interpreter = PyInterpreterState_Get();
	p->codes = codes;
	p->tool = tool;
	p->events = events;
	p->since = clock_ns(CLOCK_MONOTONIC);
	pthread_mutex_lock(&parts_lock);
	p->next = parts;
	parts = p;
	pthread_mutex_unlock(&parts_lock);
	return p;
}

static bool ticking; /* before the fork */
static int forking;  /* threads between duty_python_forks(true) and its other half; with parts_lock */

/* From now on the time is kept; if threads are inside os.fork(), by the last of them to leave. False: no thread. */
static bool tick(void)
{
	bool ticks = true;

	pthread_mutex_lock(&parts_lock);
	if (forking)
		ticking = true;
	else if (parts)
		ticks = timer_start(duty(), ask_all);
	pthread_mutex_unlock(&parts_lock);
	return ticks;
}

bool duty_begin(struct codes *codes, int tool, int events, int *err)
{
	struct part *p;

	*err = 0;
	if (lanes_backend() != BACKEND_SOFTWARE || !duty()->period_ns)
		return false;
	p = add_part(codes, tool, events);
	if (!p || !tick()) {
		duty_end(codes);
		PyErr_SetString(PyExc_RuntimeError, "ocular: no thread for the duty cycle");
		*err = -1;
		return false;
	}
	TURN_BEGIN();
	shut_lanes(codes, 0);
	follow_schedule(p);
	TURN_END();
	return true;
}

static bool remove_part(struct part *p)
{
	bool last;

	pthread_mutex_lock(&parts_lock);
	for (struct part **at = &parts; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	last = !parts;
	pthread_mutex_unlock(&parts_lock);
	free(p);
	return last;
}

void duty_end(struct codes *codes)
{
	struct part *p;
	bool last = false;

	TURN_BEGIN();
	p = part_of(codes, NULL);
	if (p && p->window)
		close_window(p);
	if (p)
		codes->window = LANE_ALWAYS;
	if (p)
		last = remove_part(p);
	TURN_END();
	if (last)
		timer_stop();
}

void duty_before_fork(void)
{
	ticking |= timer_stop();
}

static int tick_again(void *unused)
{
	tick();
	return 0;
}

/* Not at once: CPython is about to count the threads, and would warn of a second one. */
static void tick_soon(void)
{
	if (ticking && parts)
		_PyEval_AddPendingCall(parts->interpreter, tick_again, NULL, 0);
	ticking = false;
}

void duty_after_fork(void)
{
	pthread_mutex_lock(&parts_lock);
	if (!forking)
		tick_soon();
	pthread_mutex_unlock(&parts_lock);
}

void duty_python_forks(bool before)
{
	pthread_mutex_lock(&parts_lock);
	if (before)
		forking++;
	else if (forking) /* else its first half came before there was a hook */
		forking--;
	if (!forking)
		tick_soon();
	pthread_mutex_unlock(&parts_lock);
	if (before)
		duty_before_fork();
}

/* Only the interpreter that forked lives on; its life begins here. */
void duty_forked(void)
{
	PyThreadState *thread = PyGILState_GetThisThreadState();
	PyInterpreterState *mine = thread ? PyThreadState_GetInterpreter(thread) : NULL;
	struct part **at = &parts, *p;

#ifdef Py_GIL_DISABLED
	turn = (PyMutex){ 0 };
#endif
	pthread_mutex_init(&parts_lock, NULL);
	forking = 0;
	while ((p = *at)) {
		if (mine && p->interpreter != mine) {
			*at = p->next;
			free(p);
			continue;
		}
		atomic_store(&p->asked, false);
		p->since = clock_ns(CLOCK_MONOTONIC);
		at = &p->next;
	}
	if (ticking && parts)
		timer_start(duty(), ask_all);
	ticking = false;
}
