// SPDX-License-Identifier: MIT
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define WINDOW_BITS (15 + 16) /* zlib.h: 16 more make a gzip header */
#define MEMORY	    8	      /* zlib's default */
#define ROOM	    (64u << 10)

struct gzip {
	z_stream stream;
	uint64_t inside; /* bytes given since it held nothing back */
	unsigned char room[ROOM];
};

struct gzip *gzip_open(void)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (z && deflateInit2(&z->stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		bytes += n > 0 ? n : 0;
		size -= n > 0 ? n : 0;
	}
	return 0;
}

int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how)
{
	static const int flushes[] = {
		[GZIP_MORE] = Z_NO_FLUSH, [GZIP_SYNC] = Z_SYNC_FLUSH, [GZIP_END] = Z_FINISH
	};
	int err = 0;

	z->stream.next_in = (unsigned char *)bytes;
	z->stream.avail_in = size;
	do { /* until zlib leaves room: then it has nothing more to give */
		z->stream.next_out = z->room;
		z->stream.avail_out = ROOM;
		deflate(&z->stream, flushes[how]);
		err = write_all(fd, z->room, ROOM - z->stream.avail_out);
	} while (!err && !z->stream.avail_out);
	z->inside = how == GZIP_MORE ? z->inside + size : 0;
	return err;
}

/*
 * What does not compress is stored, with 5 bytes a block, and zlib's blocks are 16 KB or more (deflate.c,
 * deflateBound: a 1/4096 and more, and 7 bytes). An end is an empty block and the trailer's 8 bytes.
 */
uint64_t gzip_at_most(const struct gzip *z, size_t more)
{
	uint64_t bytes = z->inside + more;

	return z->stream.total_out + bytes + bytes / 1024 + 64;
}

void gzip_free(struct gzip *z)
{
	if (z)
		deflateEnd(&z->stream);
	free(z);
}
