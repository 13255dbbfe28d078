/* SPDX-License-Identifier: MIT */
/*
 * sink_html.h - the report as one self-contained page: no script, no network, no other file (docs/report.md).
 */
#pragma once

#include "model/sink.h"

/* A sink_maker; uses path. */
int sink_html_open(struct sink **out, const struct sink_options *o, char *error);
