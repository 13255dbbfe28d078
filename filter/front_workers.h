/* SPDX-License-Identifier: MIT */
/*
 * front_workers.h - the processes of a recording, or the threads of one, read by several threads at the same time.
 *
 * Each has a decoder of its own for the traces of its processes or threads, and an analysis, whose totals are added to
 * the first one's at the end (analysis_finish()). Each is read just as by one thread alone, so the output is the same,
 * byte for byte.
 */
#pragma once

#include "front_ipt.h"

/*
 * Feeds the whole trace, which is open; by one worker, if need be (together.h), as front_ipt_feed() does. 0, or a
 * negative errno with one line in f->trace.error or the analysis. -EAGAIN: it shows in the words that there must be
 * one: all is to be opened anew, with o->workers 1. analysis_finish() may say so, too.
 */
int workers_feed(struct front_ipt *f, struct analysis *a, const struct options *o, struct progress *p);
