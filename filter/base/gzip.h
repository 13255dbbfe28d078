/* SPDX-License-Identifier: MIT */
/*
 * gzip.h - compressed bytes into a file descriptor: one gzip stream (RFC 1952), as viewers and tools expect of a name
 * that ends in .gz, or separate blocks, each in a frame of the file format.
 *
 * Other threads compress, if there are CPUs for them (ordered.h), and it is written when a later call finds it done.
 * The bytes of the file are the same with any number of threads. Either way takes little time rather than few bytes: an
 * order of magnitude is saved already. ORDERED_THREADS + 1 buffers are in memory at most, each once as it is and once
 * compressed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct gzip;

#define GZIP_FRAME 32 /* maximum bytes of a frame */

/* A buffer from malloc, or none (zeroed). */
struct gzip_bytes {
	char *at;
	size_t size, room;
};

/* Makes the room at least so much: 0 or -ENOMEM. */
int gzip_room(struct gzip_bytes *b, size_t size);

/* Writes at `to` what comes before `size` bytes of a zlib stream (RFC 1950), and returns its end. */
typedef char *(*gzip_frame)(char *to, size_t size);

/* frame NULL: one gzip stream. NULL: no memory. */
struct gzip *gzip_open(gzip_frame frame);

enum gzip_how {
	GZIP_MORE, /* what is done */
	GZIP_SYNC, /* everything */
	GZIP_END,  /* everything, and the end of the stream */
};

/*
 * Each call's bytes are compressed by themselves. Their buffer is exchanged for another one, with as much room and
 * nothing in it. Other than with GZIP_MORE, all is written when it returns. 0 or a negative errno, which may be that of
 * an earlier call's bytes.
 */
int gzip_write(struct gzip *z, int fd, struct gzip_bytes *plain, enum gzip_how how);

/* Waits until all is done that was given, and writes it. 0 or a negative errno. */
int gzip_settle(struct gzip *z, int fd);

/*
 * An upper limit of the file's bytes if `more` bytes are written and the stream is ended: a closer one after
 * gzip_settle().
 */
uint64_t gzip_at_most(const struct gzip *z, size_t more);

/*
 * The same of bytes that are compressed by themselves. Incompressible ones are stored, with 6 bytes a block, and blocks
 * but the last have 16 KB or more (zlib's; deflate.c's have 32). Frame, stream's header, checksums and last block take
 * 26 bytes and GZIP_FRAME.
 */
static inline uint64_t gzip_bound(uint64_t bytes)
{
	return bytes + bytes / 512 + 64 + GZIP_FRAME;
}

/* NULL is harmless. */
void gzip_free(struct gzip *z);
