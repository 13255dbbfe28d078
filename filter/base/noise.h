/* SPDX-License-Identifier: MIT */
/* noise.h - how far other work on the machine disturbed a recording. */
#pragma once

/*
 * The part of the time in which threads could run that they had no CPU, 0..1, of times in one unit. From
 * NOISE_PREEMPTED on wall times and means say more of the machine than of the program.
 */
#define NOISE_PREEMPTED 0.1

static inline double noise_preempted(double traced, double waiting, double on_cpu)
{
	double could_run = traced - waiting;

	return could_run > 0 ? (could_run - on_cpu) / could_run : 0;
}
