// SPDX-License-Identifier: MIT
/* LD_PRELOAD for cores.py: a process may run on CORES CPUs, so it says, whatever the machine has. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	memset(set, 0, size);
	for (int i = 0; i < atoi(getenv("CORES")); i++)
		CPU_SET_S(i, size, set);
	return 0;
}
