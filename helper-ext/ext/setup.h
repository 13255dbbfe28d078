/* SPDX-License-Identifier: MIT */
/*
 * setup.h - what Python passes before the first code object is seen.
 */
#pragma once

#include <Python.h>

#include "bytecode.h"
#include "ambiguous.h"
#include "filter.h"

/*
 * What all interpreters of the process share; set before the first code is seen. The tables are the same each time, so
 * a later session does not write them; a thread that is still looking at code for an earlier one may be reading.
 */
struct setup {
	struct opcode_tables ops;
	struct flow_tables flow;
};
extern struct setup setup;

/* filter.h, with set_filter()'s patterns. Both take the process lock. */
bool setup_wants(const char *file, const struct module_names *module);
bool setup_is_own(const char *file);

/*
 * A new bytes object from a str: UTF-8, and for a path that is not valid UTF-8 its own bytes (PEP 383). NULL with an
 * exception: other surrogates.
 */
PyObject *setup_bytes(PyObject *str);

/*
 * set_filter(include, exclude, own): tuples of str; see filter.h. Call it first: it ends what an earlier session set.
 */
PyObject *setup_filter(PyObject *module, PyObject *args);

/* Adds ("include" or "exclude", pattern) for each of set_filter() that no code has matched. 0, or -1 with an error. */
int setup_unmatched(PyObject *list);

/*
 * set_opcodes(caches, jump, instrumented, extended_arg, line, instruction, call_function_ex): fills struct
 * opcode_tables.
 */
PyObject *setup_opcodes(PyObject *module, PyObject *args);

/*
 * set_flow(flow, for_skips): fills struct flow_tables; until the next set_filter() ambiguous branches are looked for.
 */
PyObject *setup_flow(PyObject *module, PyObject *args);

/* Raise OSError for a negative errno; returns NULL. */
PyObject *setup_error(int err);
