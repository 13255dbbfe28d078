/* SPDX-License-Identifier: MIT */
/* sink_live.h - what happened in each second of a recording, a JSON object a line: docs/live.md. */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path. */
int sink_live_open(struct sink **out, const struct sink_options *o, char *error);
