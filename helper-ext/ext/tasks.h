/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - tasks of asyncio and trio, and the work that they hand over: which ones there are, who makes them, and who
 * lets them go on, as SUBJECT words (docs/marker.md).
 *
 * asyncio runs and wakes everything by a Handle, which BaseEventLoop._call_soon() makes; uvloop has its own, which are
 * no Python code: contexts.h. A task is told once, with its name; again when a later call finds that the name has
 * changed. Neither the program's code nor its objects are changed; the tasks that live have a weak reference of ours.
 */
#pragma once

#include "hooks.h"

/* The words of c. -1 with an exception. */
int tasks_open(struct codes *c);
void tasks_close(struct codes *c);

/*
 * For whoever knows of tasks what hooks do not tell. References are new, or NULL without an exception.
 * The task whose method, bound or built in, a callback is: one of its steps. NULL: it is no task's.
 */
PyObject *tasks_called(const struct codes *c, PyObject *callback);
PyObject *tasks_coroutine(const struct codes *c, PyObject *task);

/* Tells what is not told of a task yet. The payload for its coroutine, if it was known or has begun before; else 0. */
uint64_t tasks_see(struct codes *c, uint32_t session, PyObject *task);

/* Will PY_START tell that this coroutine starts? */
bool tasks_start_is_told(struct codes *c, uint32_t session, PyObject *coroutine);

void tasks_write(struct codes *c, uint32_t session, enum subject what, uint64_t whom);

/* A job is made, which a timer begins in so many ns. */
void tasks_timer(struct codes *c, uint32_t session, double ns, const void *job);

/* A coroutine of this code, which is left out, begins, goes on, is suspended, or ends: it may be a task's own. */
void tasks_own(struct codes *c, uint32_t session, PyObject *code, enum marker_op op);

/* The same of a function that waits for its first argument: a future, a thread or an event. */
void tasks_awaited_unseen(struct codes *c, uint32_t session, PyObject *code, enum marker_op op);

/* Hooks (hooks.h). */
void tasks_handle_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_timer_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_handle_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_handle_cancelled(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_rescheduled(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of trio: a task has ended, which lets others go on; a job for one of its threads; what is posted to its loop. */
void tasks_exited(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_worker_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_entry_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_entry_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of OpenTelemetry: a span without a parent in this process is a request. */
void tasks_span_begun(struct codes *c, uint32_t session, PyObject *span, bool shown);
void tasks_span_ended(struct codes *c, uint32_t session, PyObject *span, bool shown);
void tasks_job_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_job_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of a queue: is it a job for one of anyio's threads? */
void tasks_item_put(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_item_got(struct codes *c, uint32_t session, PyObject *value, bool shown);
/* Of a future, a thread or an event: another thread begins to wait for it; it is done. */
void tasks_awaited(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_done(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_self_made(struct codes *c, uint32_t session, PyObject *value, bool shown);
void tasks_self_run(struct codes *c, uint32_t session, PyObject *value, bool shown);
