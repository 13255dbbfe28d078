/* SPDX-License-Identifier: MIT */
/*
 * world.h - what the GIL gives, on a Python without one (PEP 703).
 *
 * A callback that calls no Python is over before the world stops, as it is before another thread gets the GIL. One that
 * calls Python may be there meanwhile; afterwards it must check that nothing has changed (codes.h: session).
 */
#pragma once

#include <Python.h>

/*
 * function(arg), while no other thread of the calling thread's interpreter runs Python or a callback. It must not call
 * Python, with which it may dead-lock, not even to allocate; the process lock may be taken.
 */
void world_stop(void (*function)(void *arg), void *arg);

/* CPython 3.12 has no such macros, and no build that needs them. */
#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(op) {
#define Py_END_CRITICAL_SECTION()     }
#endif
