/* SPDX-License-Identifier: MIT */
/*
 * pt_scan.h - the words and indirect branches of a stretch of common packets, gathered without a step for each.
 *
 * A part of the walk (pt_walk.h): it stops before whatever is not common, and before the time at which another trace
 * may have to go on. So all of a stretch is of one thread, and no clock is set in it.
 */
#ifndef OCULAR_PT_SCAN_H
#define OCULAR_PT_SCAN_H

#include "pt_walk_state.h"

/* Where w->plain holds. Goes as far as it can; true: w->rows are what it came by. */
bool pt_scan(struct pt_walk *w);

#endif
