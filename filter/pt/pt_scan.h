/* SPDX-License-Identifier: MIT */
/*
 * pt_scan.h - the words and indirect branches of a run of common packets, collected without a step for each.
 *
 * A part of the walk (pt_walk.h): it stops before any other packet, and before the time at which another trace may have
 * to continue. So a run belongs to one thread, and no clock is set in it.
 */
#pragma once

#include "pt_walk_state.h"

/* Only while w->plain. Goes as far as it can; true: w->rows has what it passed. */
bool pt_scan(struct pt_walk *w);
