/* SPDX-License-Identifier: MIT */
/* sink_summary.h - the report for programs: docs/summary.md. */
#pragma once

#include "model/sink.h"

#define SUMMARY_SCHEMA	 1
#define SUMMARY_REVISION 6 /* grows by one when fields are added */

/* A sink_maker; uses path. */
int sink_summary_open(struct sink **out, const struct sink_options *o, char *error);
