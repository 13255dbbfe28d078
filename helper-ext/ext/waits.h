/* SPDX-License-Identifier: MIT */
/*
 * waits.h - what threads wait for: calls of the interpreter, and of extension modules, that may block.
 *
 * They are seen by the global offset tables (got.h), from a start to its stop. A call that took a microsecond or more
 * is noted by its thread (lane_waited()); one that did not block costs two readings of the clock, a free lock none.
 */
#pragma once

#include <Python.h>
#include <stdint.h>

/*
 * Begins; hz: of the clock of ring records; direct: of the interpreter's codes (codes.h). Returns how many calls are
 * seen: none of a static program, on a processor whose relocations are not known, or if the kernel does not let their
 * words be written. With the GIL, or one thread at a time.
 */
int waits_start(uint64_t hz, Py_ssize_t direct);
void waits_stop(void);

/* New code runs: an extension module may have been loaded with it. */
void waits_look(void);
