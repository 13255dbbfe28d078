/* SPDX-License-Identifier: MIT */
/*
 * running.h - the calling thread's current thread state, without a call.
 *
 * CPython keeps it in a thread-local variable, which it does not export, and which is elsewhere in each build: the one
 * word of CPython's thread-local storage that refers to the thread state while the thread is attached, and to nothing
 * while it is not. It is looked for once; where a thread has it, the loader says. Sub-interpreters and forks change
 * what the word holds, not where it is.
 */
#pragma once

#include <Python.h>

/* In CPython; in a shared library it takes 18 instructions, and whoever calls it keeps registers. */
static inline PyThreadState *running_asked(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#else
	return _PyThreadState_UncheckedGet();
#endif
}

/* Where the calling thread's is; NULL: running_meet() says which it is. */
extern _Thread_local PyThreadState *const *running_word __attribute__((tls_model("initial-exec")));

/* Look for it, unless that was done before. The calling thread is detached meanwhile for a moment. */
void running_find(void);

/* The calling thread's, which is attached; from now on running_word says so, too, if it was found. */
PyThreadState *running_meet(void);
