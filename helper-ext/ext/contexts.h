/* SPDX-License-Identifier: MIT */
/*
 * contexts.h - what an event loop of C code (uvloop.h) is to call, and when it does, as SUBJECT words.
 *
 * Such a loop has its own handles, which no Python code sees. But whatever it calls it calls in a context (PEP 567) of
 * its own: a copy for each callback, one for all steps of a task. So a callback is a job by the name of its context,
 * and a context that is entered says which one begins. A context that others may hold, because the program has chosen
 * it, tells nothing of callbacks; its tasks are told by their coroutine's own events.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

struct codes;

/*
 * It is to call `callback` in `context`, to which so many have a reference: the step of a task, which can go on, or a
 * job. Calls Python; leaves no exception.
 */
void contexts_scheduled(struct codes *c, uint32_t session, PyObject *callback, PyObject *context, Py_ssize_t holders);

/* Likewise, not a task's step, in so many seconds. */
void contexts_timed(struct codes *c, uint32_t session, PyObject *delay, PyObject *context, Py_ssize_t holders);

/* A hook (hooks.h) for what trio makes: no function of Python calls the steps of its tasks either. */
void contexts_spawned(struct codes *c, uint32_t session, PyObject *task, bool shown);

/* A coroutine of this code begins, one of which no context tells it. */
void contexts_beginning(struct codes *c, uint32_t session, PyObject *code);

/* It has entered a context. */
void contexts_entered(struct codes *c, uint32_t session, PyObject *context);
