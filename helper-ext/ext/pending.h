/* SPDX-License-Identifier: MIT */
/*
 * pending.h - a call soon, by whichever thread of an interpreter runs Python next.
 *
 * Py_AddPendingCall() is for the main thread alone, which may be asleep. This one is in no public header, but
 * exported by all of CPython 3.12 to 3.15.
 */
#ifndef OCULAR_PENDING_H
#define OCULAR_PENDING_H

#include <Python.h>

/* flags 0: any thread may run it. Not 0: the queue, which is the program's too, is full. */
int _PyEval_AddPendingCall(PyInterpreterState *interp, int (*function)(void *), void *arg, int flags);

#endif
