/* SPDX-License-Identifier: MIT */
/*
 * timeslice.h - work that can wait is done in short stretches, with naps between.
 *
 * Where no core is free, a traced thread waits while the recorder has its core. Yielding (sched_yield(2)) is not
 * enough: whom the kernel takes next may be us again. Who sleeps is not taken.
 */
#ifndef OCULAR_TIMESLICE_H
#define OCULAR_TIMESLICE_H

#include <stdint.h>

struct timeslice {
	uint64_t began_ns;
};

void timeslice_begin(struct timeslice *s);

/* To be called at least every few microseconds: naps if the stretch has been long enough. */
void timeslice_check(struct timeslice *s);

#endif
