/* SPDX-License-Identifier: MIT */
/* procfs.c - /proc/PID/task/TID/comm. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "procfs.h"

/* 0, or -1 if there is no such file. */
static int read_comm(const char *path, char comm[PROCFS_COMM])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, comm, PROCFS_COMM - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	comm[n] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return 0;
}

void procfs_comm(uint32_t pid, uint32_t tid, char comm[PROCFS_COMM])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	if (read_comm(path, comm) == 0)
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (read_comm(path, comm) < 0)
		strcpy(comm, "?");
}
