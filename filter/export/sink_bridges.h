/* SPDX-License-Identifier: MIT */
/*
 * sink_bridges.h - finds out which way each trip took through its loop's body (paths.h).
 *
 * It writes nothing: what it finds hangs off the loops (struct loop.paths) for the sinks after it.
 */
#ifndef OCULAR_SINK_BRIDGES_H
#define OCULAR_SINK_BRIDGES_H

#include "model/sink.h"

/* A sink_maker; of the options it has use for none. */
int sink_bridges_open(struct sink **out, const struct sink_options *o, char *error);

#endif
