/* SPDX-License-Identifier: MIT */
/*
 * pending.h - adds a call to be made by the thread of an interpreter that next runs Python.
 *
 * Py_AddPendingCall() uses the main thread only, which may be asleep. This one is in no public header, but CPython 3.12
 * to 3.15 all export it.
 */
#pragma once

#include <Python.h>

/* flags 0: any thread may run it. Returns not 0 if the queue, which the program uses too, is full. */
int _PyEval_AddPendingCall(PyInterpreterState *interp, int (*function)(void *), void *arg, int flags);
