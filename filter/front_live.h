/* SPDX-License-Identifier: MIT */
/*
 * front_live.h - a recording that is still being written: waits for more instead of ending, and tells the sinks when
 * each second of the recording's clock is over (sink_ops.second).
 *
 * A word is told in the second of its time. One that its recorder wrote later than LIVE_LATE_NS after that is told in a
 * later second; none is left out.
 */
#pragma once

#include "front_ipt.h"

/* The recorder writes what it has ten times a second (recorder.c: FLUSH_NS). */
#define LIVE_LATE_NS 300000000ull

/*
 * file: the perf.data. Like front_ipt_open(), but waits for a recorder that has just begun. -EOPNOTSUPP: nobody can
 * follow this recording.
 */
int front_live_open(struct front_ipt *f, const char *file);

/*
 * Feeds the whole trace, to the end of the recording or until SIGINT or SIGTERM; these must be blocked. *ended: the
 * recording is over, and all of it was fed. 0, or a negative errno with one line in f->trace.error or the analysis.
 */
int front_live_feed(struct front_ipt *f, struct analysis *a, const char *dir, bool *ended);
