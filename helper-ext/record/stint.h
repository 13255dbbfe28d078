/* SPDX-License-Identifier: MIT */
/*
 * stint.h - work that can wait is done in short stretches, with naps between.
 *
 * Where no core is free, a traced thread waits while the recorder has its core. Yielding (sched_yield(2)) is not
 * enough: whom the kernel takes next may be us again. Who sleeps is not taken.
 */
#ifndef OCULAR_STINT_H
#define OCULAR_STINT_H

#include <stdint.h>

struct stint {
	uint64_t began_ns;
};

void stint_begin(struct stint *s);

/* To be called at least every few microseconds: naps if the stretch has been long enough. */
void stint_look(struct stint *s);

#endif
