/* SPDX-License-Identifier: MIT */
/* common_clock.c - see common_clock.h. */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common_clock.h"

static struct clock_page *map(const char *folder, int flags)
{
	char path[PATH_MAX];
	struct clock_page *c;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, CLOCK_FILE);
	fd = open(path, O_RDWR | O_CLOEXEC | flags, 0600);
	if (fd < 0)
		return NULL;
	c = ftruncate(fd, sizeof(*c)) ? MAP_FAILED : mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return c == MAP_FAILED ? NULL : c;
}

struct clock_page *clock_map(const char *folder)
{
	return map(folder, 0);
}

struct clock_page *clock_make(const char *folder, uint64_t tsc)
{
	struct clock_page *c = map(folder, O_CREAT);

	if (c)
		clock_reach(c, tsc);
	return c;
}
