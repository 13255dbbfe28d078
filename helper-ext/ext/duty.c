/* SPDX-License-Identifier: MIT */
/*
 * duty.c - see duty.h. The first thread to run after an edge brings its interpreter to the schedule's current state: a
 * missed edge is made up for, or skipped.
 */
#include <stdlib.h>

#include "clock.h"
#include "duty.h"
#include "pending.h"
#include "process.h"
#include "rings.h"
#include "schedule.h"
#include "shared/ticks.h"
#include "table.h"
#include "timer.h"

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

static struct part *parts; /* the process lock's */

static const struct ring_duty *duty(void)
{
	return &rings_config()->duty;
}

static struct part *part_of(const struct codes *codes, PyInterpreterState *interpreter)
{
	struct part *p;

	process_lock();
	p = parts;
	while (p && (codes ? p->codes != codes : p->interpreter != interpreter))
		p = p->next;
	process_unlock();
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
	lanes_shut(p->codes->interpreter, tsc - (uint64_t)((double)late * (double)rings_config()->tsc_hz / 1e9));
	write_window(p, begin > p->since ? begin : p->since, now - late);
	p->codes->window = LANE_SHUT;
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
	struct part *p = part_of(NULL, PyInterpreterState_Get());
	PyObject *pending = PyErr_GetRaisedException();

	if (p) {
		atomic_store(&p->asked, false);
		follow_schedule(p);
	}
	PyErr_SetRaisedException(pending);
	return 0;
}

/* By the timer's thread. One call at a time: the queue is the program's, too, and short. */
static void ask_all(void)
{
	process_lock();
	for (struct part *p = parts; p; p = p->next)
		if (!atomic_exchange(&p->asked, true) && _PyEval_AddPendingCall(p->interpreter, edge, NULL, 0))
			atomic_store(&p->asked, false);
	process_unlock();
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
	process_lock();
	p->next = parts;
	parts = p;
	process_unlock();
	return p;
}

bool duty_begin(struct codes *codes, int tool, int events, int *err)
{
	struct part *p;

	*err = 0;
	if (lanes_backend() != BACKEND_SOFTWARE || !duty()->period_ns)
		return false;
	p = add_part(codes, tool, events);
	if (!p || !timer_start(duty(), ask_all)) {
		duty_end(codes);
		PyErr_SetString(PyExc_RuntimeError, "ocular: no thread for the duty cycle");
		*err = -1;
		return false;
	}
	codes->window = LANE_SHUT;
	lanes_shut(codes->interpreter, 0);
	follow_schedule(p);
	return true;
}

static bool remove_part(struct part *p)
{
	bool last;

	process_lock();
	for (struct part **at = &parts; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	last = !parts;
	process_unlock();
	free(p);
	return last;
}

void duty_end(struct codes *codes)
{
	struct part *p = part_of(codes, NULL);

	if (!p)
		return;
	if (p->window)
		close_window(p);
	codes->window = LANE_ALWAYS;
	if (remove_part(p))
		timer_stop();
}

static bool ticking; /* before the fork */

void duty_before_fork(void)
{
	ticking = timer_stop();
}

static int tick_again(void *unused)
{
	if (parts)
		timer_start(duty(), ask_all);
	return 0;
}

/* Not at once: CPython is about to count the threads, and would warn of a second one. */
void duty_after_fork(void)
{
	if (ticking && parts)
		_PyEval_AddPendingCall(parts->interpreter, tick_again, NULL, 0);
	ticking = false;
}

/* Only the interpreter that forked lives on; its life begins here. */
void duty_forked(void)
{
	PyThreadState *thread = PyGILState_GetThisThreadState();
	PyInterpreterState *mine = thread ? PyThreadState_GetInterpreter(thread) : NULL;
	struct part **at = &parts, *p;

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
