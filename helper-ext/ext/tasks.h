/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - tasks of asyncio and trio, and the work that they hand over: which ones there are, who makes them, and who
 * lets them go on, as SUBJECT words (docs/marker.md).
 *
 * asyncio runs and wakes everything by a Handle, which BaseEventLoop._call_soon() makes; uvloop has its own, which are
 * no Python code: there a task is known from where it is made, or else from when it begins. A task is told
 * once, with its name; again when a later call finds that the name has changed. Neither the program's code nor its
 * objects are changed; the tasks that live have a weak reference of ours.
 */
#pragma once

#include "hooks.h"

/* The words of c. -1 with an exception. */
int tasks_open(struct codes *c);
void tasks_close(struct codes *c);

/* Is there an event loop that is no Python code? To be asked at the start, and after imports. */
void tasks_look(struct codes *c);

/* If there is, a coroutine of this code begins: is it the one of a task that asyncio says is running? */
void tasks_beginning(struct codes *c, uint32_t session, PyObject *code);

/* A coroutine of this code, which is left out, begins, goes on, is suspended, or ends: it may be a task's own. */
void tasks_own(struct codes *c, uint32_t session, PyObject *code, enum marker_op op);

/* Likewise, it ends: which tasks wait for the one that it is the coroutine of? */
void tasks_ending(struct codes *c, uint32_t session, PyObject *code);

/* Where there is such an event loop: a task is made, futures are about to be set, a thread hands its result over. */
void tasks_registered(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_waiters_woken(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_waiter_woken(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_next_woken(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_future_set(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_chained(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_chain_run(struct codes *c, uint32_t session, PyObject *value, bool shown);

/* Hooks (hooks.h). */
void tasks_handle_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_timer_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_handle_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_handle_cancelled(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_rescheduled(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of OpenTelemetry: a span without a parent in this process is a request. */
void tasks_span_begun(struct codes *c, uint32_t session, PyObject *span, bool shown);
void tasks_span_ended(struct codes *c, uint32_t session, PyObject *span, bool shown);
void tasks_job_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_job_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of a queue: is it a job for one of anyio's threads? */
void tasks_item_put(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_item_got(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_self_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_self_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
