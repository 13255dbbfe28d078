// SPDX-License-Identifier: MIT
/*
 * The mappings are looked up each time: nobody tells when one ends, and what is there then may be written to. So this
 * must be called by the thread that maps and unmaps the file.
 */
#include "mapped.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A line of proc_pid_maps(5): "begin-end r--s offset device inode   path\n". */
static bool is_of(const char *line, const char *path, unsigned long *begin, unsigned long *end)
{
	int name = 0;
	size_t length = strlen(path);

	return sscanf(line, "%lx-%lx r--s %*x %*s %*u %n", begin, end, &name) == 2 && name &&
	       !strncmp(line + name, path, length) && !strcmp(line + name + length, "\n");
}

void mapped_give_back(const char *path)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long begin, end;
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		if (is_of(line, path, &begin, &end))
			madvise((void *)begin, end - begin, MADV_DONTNEED);
	free(line);
	if (f)
		fclose(f);
}
