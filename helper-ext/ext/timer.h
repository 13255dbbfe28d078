/* SPDX-License-Identifier: MIT */
/* timer.h - a thread that calls back at the edges of a duty cycle's windows. One in a process. */
#pragma once

#include <stdbool.h>

#include "shared/ring.h"

/* ring() is called at each edge of the schedule, by the thread, until timer_stop(). False: no thread. */
bool timer_start(const struct ring_duty *duty, void (*ring)(void));

/* It has ended when this returns. True: there was one. */
bool timer_stop(void);
