/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - a lane without a reader, to measure what a marker costs (callback_cycles).
 *
 * The calibrating thread runs the usual instructions, but they write into private memory. One at a time in the process.
 */
#pragma once

#include <stdint.h>

#include "lane.h"

/* The calling thread's markers, as `view` sees it, go to the scratch lane. */
void scratch_begin(uint64_t interpreter, enum lane_view view);

/* At the scratch lane's end: start it over, true. Otherwise does nothing. */
bool scratch_wrap(enum lane_view view);

/* They go where they went before; returns how many there were. */
uint64_t scratch_end(void);
