/* SPDX-License-Identifier: MIT */
/*
 * duty.h - tracing in windows: at their beginning events are switched on, at their end off.
 *
 * A thread of the process waits for the times of the schedule, and does nothing but ask the interpreter
 * for a call soon (a pending call): it is no thread of Python's, never takes the GIL, and blocks all
 * signals. What it asks for runs in whichever Python thread comes first; where none runs Python, nothing
 * could be traced either. Around a fork there is no such thread, as CPython would warn of it.
 */
#ifndef OCULAR_DUTY_H
#define OCULAR_DUTY_H

#include <Python.h>

#include "codes.h"

/*
 * From now on this interpreter listens to `events` (sys.monitoring's bits) of its tool in windows only.
 * False: the recorder asks for no such thing, nothing was done. -1 in *err with an exception set.
 */
bool duty_begin(struct codes *codes, int tool, int events, int *err);

/* The end of it, in the middle of a window or not; nothing if there was no beginning. */
void duty_end(struct codes *codes);

/* Around fork(2); the forking process has the process lock in duty_forked(). */
void duty_before_fork(void);
void duty_after_fork(void);
void duty_forked(void);

#endif
