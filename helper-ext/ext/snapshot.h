/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - asks the flight recorder to save what led up to this moment.
 *
 * take_snapshot(label, **data) stays in programs for good, so without a flight recorder it is one load and a branch.
 * With one it sends a message and does not wait for an answer: some tens of microseconds, mostly system calls. If over
 * a hundred snapshots are unread, it does not send.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "text.h"

/* Is there a flight recorder that would take one? For the whole process. */
void snapshot_listen(bool on);
bool snapshot_listening(void);

/*
 * A snapshot's text: begin() it, add members to its data until there is no room (false), send() it, which frees the
 * text. The label is the str() of any object. tsc is the time. send() returns whether the message was sent.
 */
void snapshot_begin(struct text *t, const char *trigger, PyObject *label);
bool snapshot_member(struct text *t, PyObject *key, PyObject *value);
bool snapshot_send(struct text *t, uint64_t tsc);

PyObject *snapshot_take(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
PyObject *snapshot_fire(PyObject *module, PyObject *args);

#define SNAPSHOT_METHODS \
	{ "take_snapshot", (PyCFunction)(void (*)(void))snapshot_take, METH_FASTCALL | METH_KEYWORDS, snapshot_doc }, \
	{ \
		"fire", snapshot_fire, METH_VARARGS, snapshot_fire_doc \
	}

extern const char snapshot_doc[], snapshot_fire_doc[];
