/* SPDX-License-Identifier: MIT */
/*
 * timeslice.h - does work that can wait in short stretches, with naps in between.
 *
 * If no core is free, a traced thread waits while the recorder has its core. Yielding (sched_yield(2)) is not enough:
 * the kernel may choose us again, unless we sleep.
 */
#pragma once

#include <stdint.h>

struct timeslice {
	uint64_t began_ns;
};

void timeslice_begin(struct timeslice *s);

/* Call it at least every few microseconds: naps if the stretch has been long enough. */
void timeslice_check(struct timeslice *s);
