/* SPDX-License-Identifier: MIT */
/*
 * adaptive.h - the raw opcode bytes of a code object, and what instrumentation hid.
 *
 * CPython has no API for this: `co_code` deoptimizes, `_co_code_adaptive` hides executors and does
 * not see through INSTRUMENTED_LINE on 3.12. Layouts: cpython/code.h (3.12, 3.13) and
 * internal/pycore_instruments.h (3.14, 3.15); of executors internal/pycore_optimizer.h (the same).
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

/* The opcode byte that the interpreter would run at code unit i. */
uint8_t adaptive_raw(PyCodeObject *code, Py_ssize_t i);

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
