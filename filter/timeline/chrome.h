/* SPDX-License-Identifier: MIT */
/*
 * chrome.h - a timeline as Chrome Trace Event Format (JSON): for Perfetto, catapult, speedscope.
 *
 *   B, E   an activation: name is the qualname, category FILE:LINE; E's args calls, cycles
 *   i, X   category "loop": a timed trip; args uOps, cycles by what counted them (perfetto.h), trip
 *   X      category "opcode", in a time window: an instruction; args function, offset, line, cycles
 *   i      category "code": a code object at first sight; args code_ptr, file, line
 *   i      the other marks (timeline.h)
 *   s, f   a yield's slice, and the slice that resumes it
 *   C      counters
 *   M      names of processes and threads
 */
#pragma once

#include "timeline.h"

extern const struct timeline_format chrome_format;
