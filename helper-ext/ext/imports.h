/* SPDX-License-Identifier: MIT */
/*
 * imports.h - which module an import is of.
 *
 * Every import that loads something runs importlib._bootstrap._find_and_load(name, ...), from CPython's C code or from
 * importlib.import_module(): one call for each line of -X importtime. After its PY_START a word says what its first
 * argument is.
 */
#pragma once

#include "hooks.h"

/* A new name is written to the code table. No word: nothing will be loaded, or it cannot be told. */
void imports_begun(struct codes *c, uint32_t session, PyObject *value, bool shown);
