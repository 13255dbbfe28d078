/* SPDX-License-Identifier: MIT */
/*
 * adaptive.h - the raw opcode bytes of a code object, and what instrumentation hid.
 *
 * CPython has no API for this: `co_code` deoptimizes, `_co_code_adaptive` hides executors and does
 * not see through INSTRUMENTED_LINE on 3.12. Layouts: cpython/code.h (3.12, 3.13) and
 * internal/pycore_instruments.h (3.14, 3.15); of executors internal/pycore_optimizer.h (the same).
 *
 * Free-threaded CPython from 3.14 on gives each thread a copy of the bytecode it runs, which it specializes alone (PEP
 * 703, "thread-local bytecode"): 0 is the main thread's copy and always there, others when their thread first runs the
 * code. A thread that ends leaves its number to the next one. Elsewhere there is copy 0 alone.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* The numbers of the code object's copies are less than this. */
Py_ssize_t adaptive_copies(PyCodeObject *code);

/*
 * A copy's bytecode; NULL: there is no such copy. Valid until the calling thread next calls into Python, because other
 * threads' copies are freed only while the world is stopped.
 */
const uint8_t *adaptive_copy(PyCodeObject *code, Py_ssize_t copy);

/* The number of the calling thread's copies; -1: threads have no copies here. */
int adaptive_own_copy(void);

/* The opcode byte that the interpreter would run at code unit i of a copy, whose thread may be running it. */
static inline uint8_t adaptive_raw(const uint8_t *copy, Py_ssize_t i)
{
	return __atomic_load_n(&copy[2 * i], __ATOMIC_RELAXED);
}

/* What INSTRUMENTED_LINE at i stands for; 0: unknown. */
uint8_t adaptive_under_line(PyCodeObject *code, Py_ssize_t i);

/* What INSTRUMENTED_INSTRUCTION at i stands for; 0: unknown. */
uint8_t adaptive_under_instruction(PyCodeObject *code, Py_ssize_t i);

/* What the JIT has compiled of a code object: where it is entered in the bytecode, and in memory. */
struct adaptive_executor {
	Py_ssize_t unit;
	uintptr_t entry;
};

/* The i-th one, from 0; entry 0: there is no machine code. False: there are no more, or CPython is not 3.14 or 3.15. */
bool adaptive_executor(PyCodeObject *code, Py_ssize_t i, struct adaptive_executor *e);
