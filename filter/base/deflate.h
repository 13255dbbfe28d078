/* SPDX-License-Identifier: MIT */
/*
 * deflate.h - compresses what consists of records that resemble each other, as a zlib stream (RFC 1950, 1951).
 *
 * It takes about half the time of libdeflate's fastest level, since it does not look for matches within a match. The
 * same bytes always become the same, whatever was compressed before.
 */
#pragma once

#include <stddef.h>

struct deflate;

/* NULL: no memory. */
struct deflate *deflate_new(void);

#define DEFLATE_ROOM 1024

/*
 * Writes the stream of `size` bytes, 1 to 2^31, at `to`, and returns its size. There is room for gzip_bound(size),
 * which it does not exceed, and DEFLATE_ROOM: a block's codes, before it is known that they are not worth it.
 */
size_t deflate_zlib(struct deflate *d, char *to, const char *from, size_t size);

/* NULL is harmless. */
void deflate_free(struct deflate *d);
