/* SPDX-License-Identifier: MIT */
/*
 * collector.h - garbage collections as calls of a function that does not exist.
 *
 * A collection runs in C, inside whatever Python function happened to allocate: without a marker of its own its time
 * would be that function's. gc.callbacks reports when one begins and ends; it becomes a call of "garbage collection,
 * generation N", file "<gc>". Only in a flight recorder: other recordings hold nothing but sys.monitoring's events.
 * Filters apply to code: they exclude no collection.
 */
#pragma once

#include <stdatomic.h>

#include "codes.h"

#define COLLECTOR_GENERATIONS 3

struct collector {
	PyObject *_Atomic codes[COLLECTOR_GENERATIONS]; /* NULL until the first collection */
};

/* For gc.callbacks: (phase, info). */
PyObject *collector_event(struct collector *c, struct codes *codes, PyObject *args);
