/* SPDX-License-Identifier: MIT */
/*
 * duty.h - tracing in windows: events are switched on when one begins, and off when it ends.
 *
 * A thread of the process waits for the times of the schedule, and only adds a pending call to the interpreter: it is
 * not a Python thread, never takes the GIL, and blocks all signals. The call runs in the first Python thread to come;
 * if none runs Python, nothing could be traced either. The thread does not exist around a fork, because CPython would
 * warn of it.
 */
#pragma once

#include <Python.h>

#include "codes.h"

/*
 * From now on this interpreter listens to `events` (sys.monitoring's bits) of its tool in windows only. False: the
 * recorder asks for no duty cycle, nothing was done. -1 in *err with an exception set.
 */
bool duty_begin(struct codes *codes, int tool, int events, int *err);

/* The end of it, inside a window or not; does nothing if it never began. */
void duty_end(struct codes *codes);

/* Around fork(2); the forking process has the process lock in duty_forked(). */
void duty_before_fork(void);
void duty_after_fork(void);
void duty_forked(void);

/*
 * Before os.fork(), and in the parent after it. Without a GIL these are needed as well: inside os.fork() CPython holds
 * the lock of its lists of threads, which adding a pending call takes.
 */
void duty_python_forks(bool before);
