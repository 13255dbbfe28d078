/* SPDX-License-Identifier: MIT */
/*
 * sink_perfetto.h - the trace as a timeline for Perfetto and other viewers, in the format that the
 * file's name asks for: .pftrace is Perfetto's own, anything else Chrome's JSON; each .gz if that follows.
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path, iterations, min_ns, max_size, source_url, whole. */
int sink_perfetto_open(struct sink **out, const struct sink_options *o, char *error);
