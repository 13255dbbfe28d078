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

struct c_api;

/* Of a module, zeroed. */
struct labels {
	struct codes *codes; /* borrowed; its interpreter's */
	PyObject *ids;	     /* dict: names.h */
	PyTypeObject *type;  /* span */
	PyTypeObject *request;
	struct c_api *c_api; /* c_api.h */
};

/* With an exception: -1. */
int labels_open(PyObject *module, struct labels *l, struct codes *codes);
int labels_traverse(struct labels *l, visitproc visit, void *arg);
void labels_clear(struct labels *l);

/* One word, or with a VALUE before it two. The calling thread is attached, and calls no Python meanwhile. */
void labels_write(const struct labels *l, uint32_t session, bool two, uint64_t value, uint64_t word);

/* The value of a counter whose name has this id. Likewise. */
void labels_write_counter(const struct labels *l, uint32_t session, uint32_t id, double value);

#define LABELS_DATA_MAX 1024 /* bytes of a span's data in the table, about */

/* Of the module's methods. */
PyObject *labels_instant(struct labels *l, PyObject *const *args, Py_ssize_t n, PyObject *names);
PyObject *labels_counter(struct labels *l, PyObject *const *args, Py_ssize_t n);
