/* SPDX-License-Identifier: MIT */
/*
 * pftrace.h - a timeline as Perfetto's own protobuf (perfetto/protos/perfetto/trace): the content of chrome.h's JSON in
 * a fraction of the bytes. Engines give the same answers, except that args have the prefix "debug." there instead of
 * "args.".
 */
#pragma once

#include "timeline.h"

extern const struct timeline_format pftrace_format;
