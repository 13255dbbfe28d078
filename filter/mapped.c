// SPDX-License-Identifier: MIT
/*
 * Nobody tells when a mapping ends, and what is there then may be written to: each time the kernel is asked whose the
 * addresses are. So this must be called by the thread that maps and unmaps the file.
 */
#include "mapped.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* "/proc/self/map_files/", two addresses and what is between them. */
#define LINK_SIZE 64

/* A line of proc_pid_maps(5): "begin-end r--s offset device inode   path\n". */
static bool is_of(const char *line, const char *path, unsigned long *begin, unsigned long *end)
{
	int name = 0;
	size_t length = strlen(path);

	return sscanf(line, "%lx-%lx r--s %*x %*s %*u %n", begin, end, &name) == 2 && name &&
	       !strncmp(line + name, path, length) && !strcmp(line + name + length, "\n");
}

/* A mapping from the one address to the other has a link to its file in proc_pid_map_files(5). */
static bool is_still_there(const struct mapped *m)
{
	char link[LINK_SIZE], target[PATH_MAX];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", m->begin, m->end);
	length = m->end ? readlink(link, target, sizeof(target)) : -1;
	return length >= 0 && (size_t)length == strlen(m->path) && !memcmp(target, m->path, length);
}

static void find(struct mapped *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0)
		found = is_of(line, m->path, &m->begin, &m->end);
	if (!found)
		m->begin = m->end = 0;
	free(line);
	if (f)
		fclose(f);
}

bool mapped_give_back(struct mapped *m)
{
	bool known = m->end, there = m->path && is_still_there(m);

	if (m->path && !there)
		find(m);
	if (m->end)
		madvise((void *)m->begin, m->end - m->begin, MADV_DONTNEED);
	return there || (m->end && !known);
}
