/* SPDX-License-Identifier: MIT */
/*
 * sink_console.h - the report that a person reads: what ran, the hottest loops and what their instructions cost, the
 * functions with most self time, and what was lost.
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path, loops (0: none is shown), width, opcodes, events_by_code and color. */
int sink_console_open(struct sink **out, const struct sink_options *o, char *error);
