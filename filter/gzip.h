/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - a gzip stream (RFC 1952) into a file descriptor.
 *
 * Viewers and tools take one for a trace whose name ends in .gz. The fastest level: an order of
 * magnitude is won by the first, and the analysis waits for it.
 */
#ifndef OCULAR_GZIP_H
#define OCULAR_GZIP_H

#include <stddef.h>
#include <stdint.h>

struct gzip;

/* NULL: no memory. */
struct gzip *gzip_open(void);

enum gzip_how {
	GZIP_MORE, /* as much as zlib likes to give */
	GZIP_SYNC, /* all of it, so that gzip_at_most is exact */
	GZIP_END,  /* all of it, and the stream's end */
};

/* 0 or a negative errno. */
int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how);

/* Bytes of the file if `more` bytes are written and the stream is ended, or fewer. */
uint64_t gzip_at_most(const struct gzip *z, size_t more);

/* NULL is harmless. */
void gzip_free(struct gzip *z);

#endif
