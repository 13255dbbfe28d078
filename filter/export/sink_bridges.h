/* SPDX-License-Identifier: MIT */
/*
 * sink_bridges.h - finds the path of each trip through its loop's body (paths.h).
 *
 * It writes nothing: the result is in the loops (struct loop.paths) for the sinks after it.
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses none of the options. */
int sink_bridges_open(struct sink **out, const struct sink_options *o, char *error);
