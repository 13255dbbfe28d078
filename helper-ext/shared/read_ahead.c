/* SPDX-License-Identifier: MIT */
/* read_ahead.c - a place behind the bytes that are there, or among them, goes on; any other is a leap. */
#include "read_ahead.h"

#include <errno.h>
#include <unistd.h>

void read_ahead_init(struct read_ahead *r)
{
	r->at = r->n = r->next = 0;
}

/* How many to read for `size` bytes at `at`. */
static size_t amount(struct read_ahead *r, uint64_t at, size_t size)
{
	if (!r->n || at < r->at || at > r->at + r->n)
		r->next = READ_AHEAD_LEAST;
	while (r->next < size)
		r->next *= 2;
	return r->next;
}

static int fill(struct read_ahead *r, int fd, uint64_t at, size_t size)
{
	size_t wanted = amount(r, at, size);
	ssize_t n = pread(fd, r->bytes, wanted, at);

	r->at = at;
	r->n = n < 0 ? 0 : n;
	if (r->next < READ_AHEAD_MOST)
		r->next *= 2;
	return n < 0 ? -errno : r->n < size ? -ENODATA : 0;
}

const void *read_ahead_get(struct read_ahead *r, int fd, uint64_t at, size_t size, int *err)
{
	if (at < r->at || at + size > r->at + r->n || (at - r->at) % 8) {
		*err = fill(r, fd, at, size);
		if (*err)
			return NULL;
	}
	return r->bytes + (at - r->at);
}
