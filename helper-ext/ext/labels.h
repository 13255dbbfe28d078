/* SPDX-License-Identifier: MIT */
/*
 * labels.h - what the program itself says: spans, instants, counters and requests, as LABEL and SUBJECT words
 * (docs/marker.md).
 *
 * While nobody records they cost a call and a test. Where and when they are used is the thread's own track.
 */
#pragma once

#include <Python.h>

#include "codes.h"
#include "values.h"

struct c_api;
struct span;

/* Of a module, zeroed. */
struct labels {
	struct codes *codes; /* borrowed; its interpreter's */
	struct names names;
	struct value_ids values;
	PyTypeObject *type; /* span */
	PyTypeObject *request;
	struct span *spare; /* memory of ended spans, for the next ones */
	int spares;
	struct c_api *c_api; /* c_api.h */
};

/* With an exception: -1. */
int labels_open(PyObject *module, struct labels *l, struct codes *codes);
int labels_traverse(struct labels *l, visitproc visit, void *arg);
void labels_clear(struct labels *l);

/* A session is over. */
void labels_forget(struct labels *l);

/* A LABEL, after the words that belong to it. The calling thread is attached, and calls no Python meanwhile. */
void labels_write(const struct labels *l, uint32_t session, const uint64_t *words, unsigned int n);

/* The value of a counter whose name has this id. Likewise. */
void labels_write_counter(const struct labels *l, uint32_t session, uint32_t id, double value);

#define LABELS_DATA_MAX 1024 /* bytes of a span's data that is in the table as a whole, about */

/* Of the module's methods. */
PyObject *labels_instant(struct labels *l, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *labels_counter(struct labels *l, PyObject *const *args, Py_ssize_t n);

/* Does anybody record? Any thread; may be over when the caller looks at the answer. */
bool labels_heard(const struct labels *l);
