// SPDX-License-Identifier: MIT
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW_BITS 15
#define GZIP_FORMAT 16 /* zlib.h: adding this to the window bits selects a gzip stream */
#define MEMORY	    8  /* zlib's default */
#define ROOM	    (64u << 10)

struct gzip {
	z_stream stream;
	gzip_frame frame;
	uint64_t written; /* bytes of the file */
	uint64_t inside;  /* bytes given to zlib since it last held nothing back */
	unsigned char *room;
	size_t size; /* of the buffer */
};

struct gzip *gzip_open(gzip_frame frame)
{
	struct gzip *z = calloc(1, sizeof(*z));
	int window = WINDOW_BITS + (frame ? 0 : GZIP_FORMAT);

	if (!z)
		return NULL;
	z->frame = frame;
	z->size = ROOM;
	z->room = malloc(z->size);
	if (z->room && deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, window, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
		return z;
	free(z->room);
	free(z);
	return NULL;
}

static int write_all(struct gzip *z, int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	z->written += size;
	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return 0;
}

static int write_stream(struct gzip *z, int fd, size_t size, enum gzip_how how)
{
	static const int flushes[] = { [GZIP_MORE] = Z_NO_FLUSH, [GZIP_SYNC] = Z_SYNC_FLUSH, [GZIP_END] = Z_FINISH };
	int err = 0;

	do { /* until zlib leaves room: then it has nothing more to give */
		z->stream.next_out = z->room;
		z->stream.avail_out = z->size;
		deflate(&z->stream, flushes[how]);
		err = write_all(z, fd, z->room, z->size - z->stream.avail_out);
	} while (!err && !z->stream.avail_out);
	z->inside = how == GZIP_MORE ? z->inside + size : 0;
	return err;
}

static int write_block(struct gzip *z, int fd, size_t size)
{
	size_t bound = deflateBound(&z->stream, size), length;
	char frame[GZIP_FRAME];
	unsigned char *room = bound > z->size ? realloc(z->room, bound) : z->room;
	int err;

	if (!room)
		return -ENOMEM;
	z->size = bound > z->size ? bound : z->size;
	z->stream.next_out = z->room = room;
	z->stream.avail_out = z->size;
	deflate(&z->stream, Z_FINISH);
	length = z->size - z->stream.avail_out;
	deflateReset(&z->stream);
	err = write_all(z, fd, frame, z->frame(frame, length) - frame);
	return err ? err : write_all(z, fd, room, length);
}

int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how)
{
	z->stream.next_in = (unsigned char *)bytes;
	z->stream.avail_in = size;
	if (!z->frame)
		return write_stream(z, fd, size, how);
	return size ? write_block(z, fd, size) : 0;
}

/*
 * Incompressible data are stored, with 5 bytes a block, and zlib's blocks are 16 KB or more (deflate.c, deflateBound:
 * 1/4096 plus a little, and 7 bytes). The end is an empty block and the trailer's 8 bytes.
 */
uint64_t gzip_at_most(const struct gzip *z, size_t more)
{
	uint64_t bytes = z->inside + more;

	return z->written + bytes + bytes / 1024 + 64 + GZIP_FRAME;
}

void gzip_free(struct gzip *z)
{
	if (!z)
		return;
	deflateEnd(&z->stream);
	free(z->room);
	free(z);
}
