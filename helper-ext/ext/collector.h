/* SPDX-License-Identifier: MIT */
/*
 * collector.h - garbage collections as calls of a function that does not exist.
 *
 * A collection runs in C, inside whatever Python function happened to allocate: without a marker of
 * its own its time would be that function's. gc.callbacks tells when one begins and ends; it is then
 * a call of "garbage collection, generation N", file "<gc>". In a flight recorder only: other
 * recordings hold sys.monitoring's events and nothing else. Filters are for code: they leave no collection out.
 */
#ifndef OCULAR_COLLECTOR_H
#define OCULAR_COLLECTOR_H

#include "codes.h"

#define COLLECTOR_GENERATIONS 3

struct collector {
	PyObject *codes[COLLECTOR_GENERATIONS]; /* NULL until the first collection */
};

/* What gc.callbacks call: (phase, info). */
PyObject *collector_event(struct collector *c, struct codes *codes, PyObject *args);

#endif
