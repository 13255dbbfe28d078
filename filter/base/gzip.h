/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - compressed bytes into a file descriptor: one gzip stream (RFC 1952), which viewers and tools
 * take for a trace whose name ends in .gz, or block after block, each in a frame of the format's own.
 *
 * The fastest level: an order of magnitude is won by the first, and the analysis waits for it.
 */
#ifndef OCULAR_GZIP_H
#define OCULAR_GZIP_H

#include <stddef.h>
#include <stdint.h>

struct gzip;

#define GZIP_FRAME 32 /* bytes of a frame at most */

/* Writes at `to` what comes before `size` bytes of a zlib stream (RFC 1950), and returns its end. */
typedef char *(*gzip_frame)(char *to, size_t size);

/* frame NULL: one gzip stream. NULL: no memory. */
struct gzip *gzip_open(gzip_frame frame);

enum gzip_how {
	GZIP_MORE, /* as much as zlib likes to give */
	GZIP_SYNC, /* all of it, so that gzip_at_most is exact */
	GZIP_END,  /* all of it, and the stream's end */
};

/* In blocks: each call is a block, whatever `how`. 0 or a negative errno. */
int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how);

/* Bytes of the file if `more` bytes are written and the stream is ended, or fewer. */
uint64_t gzip_at_most(const struct gzip *z, size_t more);

/* NULL is harmless. */
void gzip_free(struct gzip *z);

#endif
