/* SPDX-License-Identifier: MIT */
/*
 * sink_event_columns.h - each event as a row of a table, in columns: for programs that read a hundred million of them.
 *
 * The format is docs/exports.md, "Events as columns"; ocular/fleet_events.py reads it.
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path. */
int sink_event_columns_open(struct sink **out, const struct sink_options *o, char *error);
