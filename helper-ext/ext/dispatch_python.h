/* SPDX-License-Identifier: MIT */
/* dispatch_python.h - dispatch.h for Python. */
#pragma once

#include <Python.h>

/*
 * find_dispatch(used) -> {"object", "targets", "unused", "code", "again"} as in docs/marker.md. used: 256 bytes, not
 * zero where the interpreter has an opcode. RuntimeError says why there is none.
 */
PyObject *dispatch_python(PyObject *module, PyObject *used);
