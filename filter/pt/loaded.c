// SPDX-License-Identifier: MIT
/* The memory of a copy stays for the next one, as nearly all parts have one size. */
#include "loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void unmap(struct loaded *l)
{
	if (l->map)
		munmap(l->map, l->mapped);
	l->map = NULL;
}

static int map(struct loaded *l, int fd, uint64_t at, size_t size, const uint8_t **bytes)
{
	uint64_t page = sysconf(_SC_PAGESIZE), rest = at & (page - 1);
	void *p = mmap(NULL, size + rest, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, at - rest);

	if (p == MAP_FAILED)
		return -errno;
	l->map = p;
	l->mapped = size + rest;
	*bytes = l->map + rest;
	return 0;
}

static int make_room(struct loaded *l, size_t size)
{
	if (l->room >= size)
		return 0;
	free(l->copy);
	l->copy = malloc(size);
	l->room = l->copy ? size : 0;
	return l->copy ? 0 : -ENOMEM;
}

static int copy(struct loaded *l, int fd, uint64_t at, size_t size, const uint8_t **bytes)
{
	int err = make_room(l, size);
	ssize_t n;

	for (size_t done = 0; !err && done < size; done += n) {
		n = pread(fd, l->copy + done, size - done, at + done);
		if (n <= 0)
			err = n ? -errno : -ENODATA;
	}
	*bytes = l->copy;
	return err;
}

int loaded_get(struct loaded *l, int fd, uint64_t at, size_t size, const uint8_t **bytes)
{
	unmap(l);
	return (size > LOADED_COPIED ? map : copy)(l, fd, at, size, bytes);
}

void loaded_drop(struct loaded *l)
{
	unmap(l);
	free(l->copy);
	*l = (struct loaded){ 0 };
}
