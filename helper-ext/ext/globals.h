/* SPDX-License-Identifier: MIT */
/* globals.h - what the globals of a module say about it. */
#pragma once

#include <Python.h>
#include <stdbool.h>

/* The value of a global, or NULL; a new reference: without a GIL another thread may be replacing it. */
PyObject *globals_get(PyObject *globals, const char *name);

/* The bytes of a str, as long as it lives; NULL: it is none, or cannot be UTF-8. */
const char *globals_text(PyObject *object);

/* Is that the name of the main module? multiprocessing calls that of its children __mp_main__. NULL is none. */
bool globals_is_main(const char *name);
