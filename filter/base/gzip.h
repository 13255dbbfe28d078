/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - compressed bytes into a file descriptor: one gzip stream (RFC 1952), as viewers and tools expect of a name
 * that ends in .gz, or separate blocks, each in a frame of the file format.
 *
 * Other threads compress, if there are CPUs for them (ordered.h): what is given is copied, and written when a later
 * call finds it done. The bytes of the file are the same with any number of threads. The level is the fastest: it
 * already saves an order of magnitude.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gzip;

#define GZIP_FRAME 32 /* maximum bytes of a frame */

/* Writes at `to` what comes before `size` bytes of a zlib stream (RFC 1950), and returns its end. */
typedef char *(*gzip_frame)(char *to, size_t size);

/* frame NULL: one gzip stream. NULL: no memory. */
struct gzip *gzip_open(gzip_frame frame);

enum gzip_how {
	GZIP_MORE, /* as much output as zlib likes */
	GZIP_SYNC, /* everything, so that gzip_at_most is exact */
	GZIP_END,  /* everything, and the end of the stream */
};

/*
 * In blocks: each call is a block, whatever `how`. Other than with GZIP_MORE, all is written when it returns. 0 or a
 * negative errno, which may be that of an earlier call's bytes.
 */
int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how);

/* Waits until all is done that was given, and writes it. 0 or a negative errno. */
int gzip_settle(struct gzip *z, int fd);

/*
 * An upper limit of the file's bytes if `more` bytes are written and the stream is ended: a closer one after
 * gzip_settle().
 */
uint64_t gzip_at_most(const struct gzip *z, size_t more);

/* NULL is harmless. */
void gzip_free(struct gzip *z);
