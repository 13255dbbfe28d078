/* SPDX-License-Identifier: MIT */
/*
 * sink_snapshots.h - what a flight recorder's snapshots show, mainly how they differ.
 *
 * Each snapshot is a window of time. For each function and loop (self time, a loop's in timed trips) a window is
 * compared with what the others together would have in a window of its length: the excess is what the moments before
 * that trigger had beyond that. Nothing is written if there are no snapshots.
 */
#pragma once

#include "model/sink.h"

int sink_snapshots_open(struct sink **out, const struct sink_options *o, char *error);
