/* SPDX-License-Identifier: MIT */
/*
 * sink_pypylog.h - which loop a thread is in, over time, as a PYPYLOG.
 *
 * docs/exports.md describes its sections.
 */
#pragma once

#include "model/sink.h"

/* A sink_maker. */
int sink_pypylog_open(struct sink **out, const struct sink_options *o, char *error);
