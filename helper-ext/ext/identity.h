/* SPDX-License-Identifier: MIT */
/*
 * identity.h - which generator, coroutine or asynchronous generator an event is about.
 *
 * CPython keeps the frame of one inside the object itself, so the running frame leads to it. Its address is unique as
 * long as it lives; the reader of the trace, which sees it begin and end, makes serial numbers of addresses.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "running.h"

/* Bytes from an object to its frame (gi_iframe), whose first member refers to the code object: identity.c checks it. */
#define IDENTITY_FRAME	 (sizeof(PyObject) + 7 * sizeof(void *))
#define IDENTITY_ADDRESS 4 /* bits of an address that are always 0 */

/* How the frame refers to it may be in the two lowest bits since 3.14 (pycore_stackref.h). */
#define IDENTITY_CODE (PY_VERSION_HEX >= 0x030e0000 ? ~(uintptr_t)3 : ~(uintptr_t)0)

/* The frame that runs in a thread state. */
static inline const uintptr_t *identity_frame_of(const PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030d0000
	return (const uintptr_t *)state->current_frame;
#else
	return (const uintptr_t *)state->cframe->current_frame;
#endif
}

static inline const uintptr_t *identity_frame(void)
{
	return identity_frame_of(running_asked());
}

/* Does the frame run that code? The running one does not if a compiled module (Cython) reports an event of its own. */
static inline bool identity_is_of(const uintptr_t *frame, PyObject *code)
{
	return frame && (*frame & IDENTITY_CODE) == (uintptr_t)code;
}

/* The payload of KIND_OBJECT for the object that this frame is in: the object's address / 16. */
static inline uint64_t identity_at(const uintptr_t *frame)
{
	return ((uintptr_t)frame - IDENTITY_FRAME) >> IDENTITY_ADDRESS;
}

/*
 * The same for the calling thread's running frame, identity_frame(), in a PY_RESUME, PY_YIELD or PY_THROW of `code`. 0:
 * it runs other code. Such events of `code` come from an object's frame only.
 */
static inline uint64_t identity_in(const uintptr_t *frame, PyObject *code)
{
	return identity_is_of(frame, code) ? identity_at(frame) : 0;
}

/* The same of an object; 0: it is no generator or coroutine of Python code. *begun: whether it has begun to run. */
uint64_t identity_of(PyObject *object, bool *begun);

/*
 * What a generator or coroutine that has not begun will run: borrowed references to its code and its globals. false: it
 * has begun, or is none of Python code.
 */
bool identity_to_come(PyObject *object, PyObject **code, PyObject **globals);

/* An argument of the running frame, which has just begun: a borrowed reference. It has so many, and this is no cell. */
PyObject *identity_argument(int at);

/* For a METH_NOARGS function: the same of the Python code that calls it, as an int; 0: it is no object's. */
PyObject *identity_of_caller(PyObject *module, PyObject *unused);
