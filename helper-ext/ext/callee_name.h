/* SPDX-License-Identifier: MIT */
/*
 * callee_name.h - what C functions are called: for people, and as cProfile names them (CPython Modules/_lsprof.c).
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "text.h"

/* Once an interpreter. 0, or -1 with an exception. */
int callee_open(void);

/* The slot that the object is a wrapper of, bound or not: "object.__init__". NULL: it is none. */
PyWrapperDescrObject *callee_slot(PyObject *callable);

/* Has it the layout of a built-in function, though it is of another type? Those of Cython are. */
bool callee_is_like_builtin(PyTypeObject *type);

/*
 * The end of the code table's line, all behind the id. `first` is the call's first argument, or none of its arguments.
 * May call Python. False: what is called is written in Python after all.
 */
bool callee_describe(PyObject *callable, PyObject *first, struct text *line);

/* The same of a type: its module and qualname. */
void callee_describe_type(PyTypeObject *type, struct text *line);
