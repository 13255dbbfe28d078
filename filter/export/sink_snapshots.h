/* SPDX-License-Identifier: MIT */
/*
 * sink_snapshots.h - what a flight recorder's snapshots show, above all: how they differ.
 *
 * Each snapshot is a window of time. For each function and each loop (time of its own, a loop's in
 * timed trips) a window is compared with what the others, taken together, would have had in a window of
 * its length: the excess is what the last moments before that trigger had too much. Nothing is
 * written where there are no snapshots.
 */
#ifndef OCULAR_SINK_SNAPSHOTS_H
#define OCULAR_SINK_SNAPSHOTS_H

#include "model/sink.h"

int sink_snapshots_open(struct sink **out, const struct sink_options *o, char *error);

#endif
