// SPDX-License-Identifier: MIT
/* Looks at each descriptor's header without moving its position. */
#include "recording.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/perf_format.h"

static bool is_perf_data(int fd, struct recording *r)
{
	struct perf_header header;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || pread(fd, &header, sizeof(header), 0) != sizeof(header) ||
	    header.magic != PERF_MAGIC)
		return false;
	r->size = st.st_size;
	r->cut = perf_was_cut(&header);
	return true;
}

static void name_of_fd(int fd, struct recording *r)
{
	char link[64], path[PATH_MAX], *slash;
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return;
	path[length] = '\0';
	slash = strrchr(path, '/');
	r->file = strdup(slash + 1);
	slash[slash == path] = '\0';
	r->dir = strdup(path);
}

void recording_find(struct recording *r)
{
	DIR *d = opendir("/proc/self/fd");

	*r = (struct recording){ 0 };
	for (struct dirent *e; !r->size && d && (e = readdir(d));)
		if (e->d_name[0] != '.' && is_perf_data(atoi(e->d_name), r))
			name_of_fd(atoi(e->d_name), r);
	if (d)
		closedir(d);
}

void recording_free(struct recording *r)
{
	free(r->dir);
	free(r->file);
}
