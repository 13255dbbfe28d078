/* SPDX-License-Identifier: MIT */
/*
 * frames.h - FRAMES words: where an interpreter's frames begin and end on the stack of a thread.
 *
 * In mode `opcodes` an interpreter that is created while others are traced runs code before it is traced, and more
 * afterwards. Nothing else shows which of a thread's frames are its own then (docs/opcodes.md).
 */
#pragma once

#include <Python.h>

#include "codes.h"

/* How many it has open in the calling thread; traced: whether it is from here on. */
void frames_emit(const struct codes *codes, bool traced);

/* None: when it ends, after everything that its finalizers ran. -1 with an exception set. */
int frames_emit_at_end(const struct codes *codes);
