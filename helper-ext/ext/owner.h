/* SPDX-License-Identifier: MIT */
/*
 * owner.h - whose code is code that lies in no file: what `exec`, dataclasses, named tuples and templates make.
 *
 * Its file is called `<string>`, `<attrs generated init shop.Order>` and the like. It is the module's in whose globals
 * it runs, by their `__file__`; where they have none, as a named tuple's, it is the first caller's.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

/* Does that file name, a str, stand for no file? `<frozen ...>` stands for a module of the standard library. */
bool owner_is_wanted(PyObject *file);

/*
 * The file whose code it is, a new reference. NULL without an exception: the main module has none (`python -c`, the
 * prompt), or none can be found. globals: where it runs, now or later.
 */
PyObject *owner_find(PyObject *globals);
