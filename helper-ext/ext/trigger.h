/* SPDX-License-Identifier: MIT */
/*
 * trigger.h - functions whose call, or whose long call, makes the flight recorder take a snapshot; and tasks and
 * requests that take long.
 *
 * A code object that a trigger names has no ready id (codes.h), so its events, and no others, take the slow path, which
 * calls this: other code pays nothing.
 *
 * A call lasts from its PY_START to its PY_RETURN or PY_UNWIND, including suspensions of a generator or coroutine.
 * Activations are identified by their frame object.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "filter.h"
#include "shared/marker.h"

/* set_triggers([(kind, module, qualname, ticks, names)], tsc_hz): for the process; ticks 0: on the call. */
PyObject *trigger_set(PyObject *module, PyObject *args);

/* The triggers that name the code: bit n for row n. They have matched. */
uint64_t triggers_of(const struct module_names *module, PyCodeObject *code);

/* Appends ("trigger", MODULE:QUALNAME) to the list for each whose function never ran. -1 with an exception. */
int triggers_unmatched(PyObject *list);

/* An event of code that these triggers name has been written. */
void triggers_see(uint64_t named, enum marker_op op);

/* A task or request of that name, an exact str, has ended after so many ticks of the clock. */
void triggers_task(PyObject *name, uint64_t ticks);

/* Tracing stops: there are no triggers any more. */
void trigger_stop(void);
