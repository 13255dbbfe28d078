/* SPDX-License-Identifier: MIT */
/*
 * sink_events.h - the events text: one line a decoded event, for people, tests and diffs.
 *
 * The format is docs/events.md, version 1; feed.c reads it back.
 */
#pragma once

#include "model/sink.h"

#define EVENTS_TITLE "# ocular events 1"

/* A sink_maker; uses path. */
int sink_events_open(struct sink **out, const struct sink_options *o, char *error);
