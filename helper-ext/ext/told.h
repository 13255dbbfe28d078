/* SPDX-License-Identifier: MIT */
/*
 * told.h - the tasks that are told, until they die; likewise contexts (contexts.h).
 *
 * A task's row is a weak reference to it, of a type of its own: one object, because a program may have ten thousands
 * of tasks and make another one every few microseconds. What is forgotten is forgotten by the callback that all share.
 */
#pragma once

#include <Python.h>
#include <stdint.h>

struct told {
	uint64_t coroutine; /* the payload of its words (identity.h) */
	uint64_t seen;	    /* when it was seen first, in ticks */
	PyObject *name;	    /* NULL: it has none; owned */
	const void *task;   /* its address; borrowed */
};

struct told_map {
	PyTypeObject *type;
	PyObject *rows;	  /* dict: address of a task -> its row */
	PyObject *forget; /* called with the row of a task that has died */
#ifndef Py_GIL_DISABLED
	PyObject *recent; /* the row that was made last, or NULL: whoever makes a task asks for it several times */
#endif
};

/* -1 with an exception. */
int told_open(PyObject *module, struct told_map *m);
int told_traverse(const struct told_map *m, visitproc visit, void *arg);
void told_clear(struct told_map *m);

/* Forgets all of them. */
void told_forget_all(struct told_map *m);

/* The row of a task: a new reference, or NULL without an exception: it is not told. */
PyObject *told_find(const struct told_map *m, PyObject *task);

/* What a row says; valid as long as the row is. */
const struct told *told_get(const struct told_map *m, PyObject *row);

/* Changes its `coroutine`. */
void told_set(const struct told_map *m, PyObject *row, uint64_t coroutine);

/* A new row for a task, instead of the one that it may have. Fails in silence: then it is told again. */
void told_put(struct told_map *m, PyObject *task, uint64_t coroutine, PyObject *name, uint64_t seen);
