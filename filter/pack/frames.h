/* SPDX-License-Identifier: MIT */
/*
 * frames.h - a file of zstd frames (RFC 8878) with a table of where each begins, in zstd's seekable format
 * (contrib/seekable_format of zstd): any decoder of zstd reads it from beginning to end, and one that knows the table
 * can begin at any frame. Each frame has its content's size and checksum.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zstd.h>

#include "base/out.h"
#include "transpose.h"

#define FRAMES_SIZE_MOST (TRANSPOSE_MOST + TRANSPOSE_MOST / 2) /* bytes in a frame, before compression */

struct frame_entry {
	uint32_t packed, size;
};

struct frames_out {
	struct out *out;
	ZSTD_CCtx *zstd;
	uint8_t *packed;
	struct frame_entry *entries;
	uint32_t n;
};

/* Writes to `out`, which stays the caller's. 0 or -ENOMEM; frames_out_free in either case. */
int frames_out_init(struct frames_out *f, struct out *out);

/* One frame of n bytes, at most FRAMES_SIZE_MOST. 0 or -ENOMEM; out has all errors of writing. */
int frames_put(struct frames_out *f, const uint8_t *bytes, size_t n);

/* The table. Nothing may follow. */
void frames_end(struct frames_out *f);

void frames_out_free(struct frames_out *f);

struct frames_in {
	int fd;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer in;
	uint8_t *read, *bytes;
};

/* Reads fd, which stays the caller's, from where it is. 0 or -ENOMEM; frames_in_free in either case. */
int frames_in_init(struct frames_in *f, int fd);

/*
 * The next frame's content, at *bytes until the next call, when all of it is there and its checksum is right. Returns
 * its size; 0: the file ends here; -ENODATA: it ends within a frame; -EBADMSG: that is no frame, or a damaged one;
 * -errno.
 */
ssize_t frames_next(struct frames_in *f, const uint8_t **bytes);

void frames_in_free(struct frames_in *f);
