/* SPDX-License-Identifier: MIT */
/* cpus.h - on how many CPUs this process may run: containers and taskset(1) give it fewer than there are. */
#pragma once

#include <sched.h>

/* 1 or more; 1 where it cannot be known (more than 1,024 CPUs: sched_getaffinity(2)). */
static inline int cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
}
