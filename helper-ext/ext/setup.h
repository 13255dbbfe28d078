/* SPDX-License-Identifier: MIT */
/*
 * setup.h - what Python hands over before the first code object is seen.
 */
#ifndef OCULAR_SETUP_H
#define OCULAR_SETUP_H

#include <Python.h>

#include "bytecode.h"
#include "ambiguous.h"
#include "filter.h"

/* What all interpreters of the process share; set before the first code is seen. */
struct setup {
	struct opcode_tables ops;
	struct flow_tables flow;
	struct filter filter;
};
extern struct setup setup;

/*
 * A new bytes object of a str: UTF-8, and of a path that is none the bytes it has (PEP 383). NULL with an
 * exception: other surrogates.
 */
PyObject *setup_bytes(PyObject *str);

/* set_filter(include, exclude, own): tuples of str; see filter.h. The first: what an earlier session set is over. */
PyObject *setup_filter(PyObject *module, PyObject *args);

/*
 * unmatched(): [("include", "exclude" or "trigger", pattern)] of what set_filter() and set_triggers() asked for and no
 * code has matched.
 */
PyObject *setup_unmatched(PyObject *module, PyObject *none);

/* set_opcodes(caches, jump, instrumented, extended_arg, line, instruction): struct opcode_tables.
 */
PyObject *setup_opcodes(PyObject *module, PyObject *args);

/* set_flow(flow, for_skips): struct flow_tables; until the next set_filter() ambiguous branches are looked for. */
PyObject *setup_flow(PyObject *module, PyObject *args);

/* Raise OSError for a negative errno; returns NULL. */
PyObject *setup_error(int err);

#endif
