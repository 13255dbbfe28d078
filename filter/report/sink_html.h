/* SPDX-License-Identifier: MIT */
/*
 * sink_html.h - the report as one page that needs nothing but itself: no script, no network, nothing
 * beside it (docs/report.md).
 */
#ifndef OCULAR_SINK_HTML_H
#define OCULAR_SINK_HTML_H

#include "model/sink.h"

/* A sink_maker; uses path. */
int sink_html_open(struct sink **out, const struct sink_options *o, char *error);

#endif
