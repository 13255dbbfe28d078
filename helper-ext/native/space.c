/* SPDX-License-Identifier: MIT */
/* space.c - see space.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"
#include "space.h"

static size_t first_behind(const struct space *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->all[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct mapping *space_find(const struct space *s, uint64_t address)
{
	size_t i = first_behind(s, address);

	return i < s->n && address >= s->all[i].start ? &s->all[i] : NULL;
}

/* What is covered only in part is no longer known: the program replaced some of it. */
int space_map(struct space *s, uint64_t start, uint64_t end, uint64_t offset, uint64_t inode, const char *path)
{
	struct mapping m = { start, end, offset, inode, strdup(path), NULL };
	size_t from = first_behind(s, start), to = from;

	if (!m.path || !ARRAY_ONE_MORE(s->all, s->n)) {
		free(m.path);
		return -ENOMEM;
	}
	while (to < s->n && s->all[to].start < end)
		free(s->all[to++].path);
	memmove(&s->all[from + 1], &s->all[to], (s->n - to) * sizeof(m));
	s->n -= to - from;
	s->n++;
	s->all[from] = m;
	return 0;
}

/* Without the mark of the kernel behind the names of files that are gone. */
static int read_line(struct space *s, char *line)
{
	uint64_t start, end, offset, inode;
	char rights[8];
	int path = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &start, &end, rights, &offset,
		   &inode, &path) < 5 ||
	    !path || !strchr(rights, 'x'))
		return 0;
	return space_map(s, start, end, offset, inode, line + path);
}

int space_read(struct space *s, uint32_t pid)
{
	struct space now = { .pid = pid };
	char path[32], *line = NULL;
	size_t size = 0;
	int err = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (!err && getline(&line, &size, f) > 0)
		err = read_line(&now, line);
	free(line);
	fclose(f);
	if (!err && !now.n)
		err = -ESRCH;
	if (err) {
		space_free(&now);
		return err;
	}
	space_free(s);
	*s = now;
	return 0;
}

void space_free(struct space *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->all[i].path);
	free(s->all);
	*s = (struct space){ .pid = s->pid };
}
