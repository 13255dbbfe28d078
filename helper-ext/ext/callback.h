/* SPDX-License-Identifier: MIT */
/*
 * callback.h - one of the callables that sys.monitoring calls, and what it does in uncommon cases.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "codes.h"

/* The arguments after the code object (PEP 669), and what becomes of them. */
enum emit_shape {
	EMIT_OFFSET,	  /* instruction offset, ... */
	EMIT_LINE,	  /* line number */
	EMIT_DEST,	  /* instruction offset, destination offset */
	EMIT_BACKWARD,	  /* as EMIT_DEST; forward ones are disabled instead */
	EMIT_UNSURE,	  /* as EMIT_OFFSET, of an exception: may be outside the code (callback_is_inside) */
	EMIT_INSTRUCTION, /* as EMIT_OFFSET, for the most frequent event */
	EMIT_CALL,	  /* instruction offset, callable, first argument: with the C function that is called, if any */
	EMIT_C_CALL,	  /* the same; calls of Python functions are of no interest */
	EMIT_OBJECT,	  /* as EMIT_OFFSET, with the generator or coroutine (identity.h); PY_THROW: as EMIT_UNSURE */
	EMIT_SHAPES,
	EMIT_AMBIGUOUS =
		EMIT_SHAPES, /* as EMIT_DEST; branches that opcodes decide (ambiguous.h) are disabled instead */
	EMIT_RAISE,	     /* as EMIT_UNSURE, exception: with which one it is (callback.c); always the slow path */
	EMIT_LAST = EMIT_RAISE,
};

struct callback {
	PyObject base;
	vectorcallfunc call;
	vectorcallfunc dest;	 /* of EMIT_DEST */
	uint64_t head;		 /* the word's constant part */
	uint64_t interpreter;	 /* of codes */
	Py_ssize_t direct;	 /* of codes */
	PyTypeObject *code_type; /* PyCode_Type: callback_is_code() */
	PyObject *disable;
	struct codes *codes;
	uint32_t session; /* of codes */
	enum emit_shape shape;
};

/*
 * From CPython 3.13 on C code can fire events too (PyMonitoring_*), for any object that it says is like a code object.
 * Nothing but a code object may be looked into. Costs three instructions; CPython 3.12 has no such events.
 */
static inline bool callback_is_code(const struct callback *cb, PyObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
	return Py_TYPE(code) == cb->code_type;
#else
	(void)cb, (void)code;
	return true;
#endif
}

/*
 * The number if it is not negative and has one digit of 30 bits. Offsets of instructions do; code with larger lines has
 * no ready id (codes.h), so they are read again, exactly.
 */
static inline uint32_t callback_number(PyObject *n)
{
	return ((PyLongObject *)n)->long_value.ob_digit[0];
}

/*
 * Is it an offset in that code? CPython 3.12 and 3.13 report RAISE and PY_UNWIND with the difference of two unrelated
 * addresses if another tool's callback for JUMP raises. A sign or a second digit makes lv_tag greater, without the bit
 * of zero and, from 3.14 on, the one of numbers that live for ever (cpython/longintrepr.h).
 */
static inline bool callback_is_inside(PyObject *code, PyObject *n)
{
	const uintptr_t zero = 1, immortal = 4;
	uintptr_t tag = ((PyLongObject *)n)->long_value.lv_tag & ~(zero | immortal);

	return tag <= 1 << _PyLong_NON_SIZE_BITS && callback_number(n) / 2 < (size_t)Py_SIZE(code);
}

/* All uncommon cases: first events of code and of threads, full rings, far jumps, long code. */
PyObject *callback_slow(struct callback *cb, PyObject *const *args) __attribute__((cold));
