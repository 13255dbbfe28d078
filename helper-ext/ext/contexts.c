/* SPDX-License-Identifier: MIT */
/* contexts.c - see contexts.h. */
#include "contexts.h"

#include "hooks.h"
#include "identity.h"
#include "tasks.h"
#include "uvloop.h"

/*
 * What a row (told.h) of a context, or of a coroutine instead of its task's, says beside the payload of its words. 0: a
 * job, which has begun.
 */
#define OF_JOB (1ull << 62)
#define STARTS (1ull << 61) /* of a task, whose coroutine starts when it is entered */

static uint64_t job_of(const PyObject *context)
{
	return (uintptr_t)context >> IDENTITY_ADDRESS;
}

static void expect_job(struct codes *c, PyObject *context)
{
	told_put(&c->contexts, context, job_of(context) | OF_JOB, NULL, 0);
}

/* A task that has not begun. */
static void expect_start(struct codes *c, uint32_t session, PyObject *task, PyObject *context, bool own)
{
	PyObject *coroutine = tasks_coroutine(c, task), *code, *globals;
	bool begun = true, told = coroutine && tasks_start_is_told(c, session, coroutine);
	uint64_t address = coroutine ? identity_of(coroutine, &begun) : 0;

	if (address && !begun && own) {
		told_put(&c->contexts, context, address | (told ? STARTS : 0), NULL, 0);
	} else if (told && identity_to_come(coroutine, &code, &globals)) {
		told_put(&c->contexts, coroutine, address, NULL, 0);
		codes_follow(c, code, hooks_beginning());
	}
	Py_XDECREF(coroutine);
}

/*
 * Has nobody else it? The future that is set has a callback's; a task has its own, and what makes it may have that,
 * too. Where a program chooses one for its task there is a third reference at least: the argument, or a variable.
 */
static bool is_own(Py_ssize_t holders, bool of_task)
{
	return holders <= 1 + of_task && uvloop_enters();
}

void contexts_scheduled(struct codes *c, uint32_t session, PyObject *callback, PyObject *context, Py_ssize_t holders)
{
	PyObject *task = tasks_called(c, callback);
	uint64_t coroutine = task ? tasks_see(c, session, task) : 0;
	bool own = is_own(holders, task != NULL);

	if (coroutine) {
		tasks_write(c, session, SUBJECT_TASK_WOKEN, coroutine);
	} else if (task) {
		expect_start(c, session, task, context, own);
	} else if (own) {
		expect_job(c, context);
		tasks_write(c, session, SUBJECT_JOB_MADE, job_of(context));
	}
	Py_XDECREF(task);
}

void contexts_spawned(struct codes *c, uint32_t session, PyObject *task, bool shown)
{
	tasks_made(c, session, task, shown);
	expect_start(c, session, task, NULL, false);
}

/* uvloop's timers know whole milliseconds, those of none are no timers. They may come up to one too early. */
static double rounded_ns(double seconds)
{
	double ms = seconds * 1e3;

	return ms > .5 && ms < 1e9 ? (double)(uint64_t)(ms + .5) * 1e6 : 0;
}

void contexts_timed(struct codes *c, uint32_t session, PyObject *delay, PyObject *context, Py_ssize_t holders)
{
	double ns = PyFloat_Check(delay) || PyLong_Check(delay) ? rounded_ns(PyFloat_AsDouble(delay)) : 0;

	PyErr_Clear();
	if (!is_own(holders, false))
		return;
	expect_job(c, context);
	tasks_timer(c, session, ns, context);
}

static void begin(struct codes *c, uint32_t session, PyObject *row)
{
	uint64_t what = told_get(&c->contexts, row)->coroutine, whom = what & MARKER_SUBJECT_MAX;

	tasks_write(c, session, what & OF_JOB ? SUBJECT_JOB_UNSEEN : SUBJECT_TASK_UNSEEN, whom);
	if (what & STARTS)
		tasks_write(c, session, SUBJECT_TASK_STARTED, whom);
	told_set(&c->contexts, row, what & OF_JOB ? 0 : whom);
}

void contexts_beginning(struct codes *c, uint32_t session, PyObject *code)
{
	uint64_t address = identity_in(identity_frame(), code);
	PyObject *row = address ? told_find(&c->contexts, (PyObject *)(address << IDENTITY_ADDRESS)) : NULL;

	if (row)
		tasks_write(c, session, SUBJECT_TASK_STARTED, address);
	Py_XDECREF(row);
}

void contexts_entered(struct codes *c, uint32_t session, PyObject *context)
{
	PyObject *row = told_find(&c->contexts, context);

	if (row)
		begin(c, session, row);
	else
		tasks_write(c, session, SUBJECT_TASK_UNSEEN, 0);
	Py_XDECREF(row);
}
