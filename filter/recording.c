// SPDX-License-Identifier: MIT
/* Looks at each descriptor's first 8 bytes without moving its position. */
#include "recording.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* tools/perf/util/header.c: PERF_MAGIC 2, as a little-endian machine writes it. */
static const char magic[8] = { 'P', 'E', 'R', 'F', 'I', 'L', 'E', '2' };

static bool is_perf_data(int fd, uint64_t *size)
{
	char first[sizeof(magic)];
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || pread(fd, first, sizeof(first), 0) != sizeof(first) ||
	    memcmp(first, magic, sizeof(magic)))
		return false;
	*size = st.st_size;
	return true;
}

static char *folder_of_fd(int fd)
{
	char link[64], path[PATH_MAX], *slash;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return NULL;
	path[length] = '\0';
	slash = strrchr(path, '/');
	slash[slash == path] = '\0';
	return strdup(path);
}

char *recording_dir(uint64_t *size)
{
	DIR *d = opendir("/proc/self/fd");
	char *dir = NULL;

	*size = 0;
	for (struct dirent *e; !dir && d && (e = readdir(d));)
		if (e->d_name[0] != '.' && is_perf_data(atoi(e->d_name), size))
			dir = folder_of_fd(atoi(e->d_name));
	if (d)
		closedir(d);
	return dir;
}
