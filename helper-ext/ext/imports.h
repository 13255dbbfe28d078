/* SPDX-License-Identifier: MIT */
/*
 * imports.h - which module an import is of.
 *
 * Every import that loads something runs importlib._bootstrap._find_and_load(name, ...), from CPython's C code or from
 * importlib.import_module(): one call for each line of -X importtime. That function has no ready id (codes.h), so its
 * events, and no others, take the slow path; after its PY_START a word says what its first argument is.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "codes.h"

/* Is it that function? */
bool imports_are_of(PyCodeObject *code);

/*
 * The id of the name of what is imported by the innermost frame, which has just begun; a new name is written to the
 * code table. Calls Python. 0: nothing will be loaded, or it cannot be told.
 */
uint32_t imports_id(struct codes *c, uint32_t session);
