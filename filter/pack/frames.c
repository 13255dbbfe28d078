// SPDX-License-Identifier: MIT
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LEVEL	    9  /* 12 takes twice as long for 1 % less, 17 sixteen times for 7 % (Flask, 2026-11-29) */
#define WINDOW_MOST 23 /* log2: a frame has fewer bytes; what asks for more memory is not ours */
#define READ	    (1u << 17)

#define MAGIC_SKIPPABLE 0x184D2A5Eu
#define MAGIC_SEEKABLE	0x8F92EAB1u

/* --- writing ---------------------------------------------------------------------------------------------- */

int frames_out_init(struct frames_out *f, struct out *out)
{
	*f = (struct frames_out){ .out = out, .zstd = ZSTD_createCCtx() };
	f->packed = malloc(ZSTD_compressBound(FRAMES_SIZE_MOST));
	if (!f->zstd || !f->packed)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

static int note(struct frames_out *f, size_t packed, size_t size)
{
	struct frame_entry *entries = f->entries;

	if (!(f->n & (f->n - 1))) /* full when the number is a power of two */
		entries = realloc(entries, (f->n ? 2 * f->n : 1) * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	f->entries = entries;
	entries[f->n++] = (struct frame_entry){ packed, size };
	return 0;
}

int frames_put(struct frames_out *f, const uint8_t *bytes, size_t n)
{
	size_t packed = ZSTD_compress2(f->zstd, f->packed, ZSTD_compressBound(FRAMES_SIZE_MOST), bytes, n);

	if (ZSTD_isError(packed))
		return -ENOMEM; /* there is room, and no other reason */
	out_put(f->out, (const char *)f->packed, packed);
	return note(f, packed, n);
}

void frames_end(struct frames_out *f)
{
	const uint32_t size = f->n * sizeof(*f->entries) + 9;

	out_number(f->out, MAGIC_SKIPPABLE, 4);
	out_number(f->out, size, 4);
	for (uint32_t i = 0; i < f->n; i++) {
		out_number(f->out, f->entries[i].packed, 4);
		out_number(f->out, f->entries[i].size, 4);
	}
	out_number(f->out, f->n, 4);
	out_number(f->out, 0, 1); /* no checksums: the frames have them */
	out_number(f->out, MAGIC_SEEKABLE, 4);
}

void frames_out_free(struct frames_out *f)
{
	ZSTD_freeCCtx(f->zstd);
	free(f->packed);
	free(f->entries);
}

/* --- reading ---------------------------------------------------------------------------------------------- */

int frames_in_init(struct frames_in *f, int fd)
{
	*f = (struct frames_in){ .fd = fd, .zstd = ZSTD_createDCtx() };
	f->read = malloc(READ);
	f->bytes = malloc(FRAMES_SIZE_MOST);
	if (!f->zstd || !f->read || !f->bytes)
		return -ENOMEM;
	ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, WINDOW_MOST);
	return 0;
}

/* 1, 0 at the end of the file, -errno. */
static int fill(struct frames_in *f)
{
	ssize_t n;

	if (f->in.pos < f->in.size)
		return 1;
	n = read(f->fd, f->read, READ);
	f->in = (ZSTD_inBuffer){ f->read, n > 0 ? n : 0, 0 };
	return n < 0 ? -errno : n > 0;
}

ssize_t frames_next(struct frames_in *f, const uint8_t **bytes)
{
	ZSTD_outBuffer out = { f->bytes, FRAMES_SIZE_MOST, 0 };
	size_t left = 0;

	do {
		int more = fill(f);

		if (more <= 0)
			return more ? more : left ? -ENODATA : 0;
		left = ZSTD_decompressStream(f->zstd, &out, &f->in);
		if (ZSTD_isError(left) || out.pos == out.size) /* ours are smaller */
			return -EBADMSG;
	} while (left || !out.pos); /* a frame without content, as the table, is passed over */
	*bytes = f->bytes;
	return out.pos;
}

void frames_in_free(struct frames_in *f)
{
	ZSTD_freeDCtx(f->zstd);
	free(f->read);
	free(f->bytes);
}
