/* SPDX-License-Identifier: MIT */
/*
 * pftrace.h - a timeline as Perfetto's own protobuf (perfetto/protos/perfetto/trace): what chrome.h says
 * in JSON, in a fraction of the bytes. Engines give the same answers, except that args have the prefix
 * "debug." there instead of "args.".
 */
#ifndef OCULAR_PFTRACE_H
#define OCULAR_PFTRACE_H

#include "pftrace_names.h"
#include "timeline.h"

/* What a timeline owns of this format. */
struct pftrace {
	struct pftrace_names names;
	struct map processes; /* pid + 1 -> itself: its track is described */
};

extern const struct timeline_format pftrace_format;

#endif
