/* SPDX-License-Identifier: MIT */
/*
 * collector.h - garbage collections, as gc.callbacks reports them.
 *
 * A collection runs in C, inside whatever Python function happened to allocate: without words of its own its time
 * would be that function's. Filters apply to code: they exclude no collection.
 */
#pragma once

#include "codes.h"

/* For gc.callbacks: (phase, info). Writes a COLLECTION word. */
PyObject *collector_event(struct codes *codes, PyObject *args);
