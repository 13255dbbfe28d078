/* SPDX-License-Identifier: MIT */
/*
 * sink_perfetto.h - the trace as a timeline, for Perfetto, catapult and speedscope: Chrome Trace
 * Event Format.
 *
 *   B, E   an activation: name is the qualname, category FILE:LINE
 *   i      category "code": a code object at first sight; args code_ptr, file, line
 *          category "loop": a timed trip; args uOps, Hardware Cycles, trip
 *          category "exception": the activation that ends here is unwound
 *          category "loss": GAP, args count: markers are missing before this point
 *   M      names of processes and threads
 */
#ifndef OCULAR_SINK_PERFETTO_H
#define OCULAR_SINK_PERFETTO_H

#include "sink.h"

/* A sink_maker; uses path. */
int sink_perfetto_open(struct sink **out, const struct sink_options *o, char *error);

#endif
