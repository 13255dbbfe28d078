// SPDX-License-Identifier: MIT
#include "gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cpus.h"
#include "ordered.h"

#define WINDOW_BITS 15
#define GZIP_FORMAT 16 /* zlib.h: adding this to the window bits selects a gzip stream */
#define MEMORY	    8  /* zlib's default */

/* What is given at a time, and what comes of it. */
struct part {
	enum gzip_how how;
	int err;
	struct bytes {
		unsigned char *at;
		size_t size, room;
	} plain, packed;
};

struct gzip {
	gzip_frame frame;
	uint64_t written; /* bytes of the file */
	uint64_t inside;  /* bytes given since zlib last held nothing back */
	uint64_t flying;  /* of parts that are not written yet: at most so many bytes of the file */
	struct ordered *ordered;
	struct part parts[ORDERED_THREADS + 1];
	z_stream streams[ORDERED_THREADS]; /* of each thread */
};

static int make_room(struct bytes *b, size_t size)
{
	unsigned char *bigger = size > b->room ? realloc(b->at, size) : b->at;

	if (size > b->room && !bigger)
		return -ENOMEM;
	b->at = bigger;
	b->room = size > b->room ? size : b->room;
	return 0;
}

static int begin(const struct gzip *z, z_stream *s)
{
	int window = WINDOW_BITS + (z->frame ? 0 : GZIP_FORMAT);

	if (s->state)
		return 0;
	if (deflateInit2(s, Z_BEST_SPEED, Z_DEFLATED, window, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
		return 0;
	return -ENOMEM;
}

/* Until zlib leaves room: then it has nothing more to give. */
static int press(z_stream *s, struct part *p, int flush)
{
	int err = make_room(&p->packed, deflateBound(s, p->plain.size));

	s->next_in = p->plain.at;
	s->avail_in = p->plain.size;
	for (p->packed.size = 0; !err; err = make_room(&p->packed, 2 * p->packed.room)) {
		s->next_out = p->packed.at + p->packed.size;
		s->avail_out = p->packed.room - p->packed.size;
		deflate(s, flush);
		p->packed.size = p->packed.room - s->avail_out;
		if (s->avail_out)
			break;
	}
	return err;
}

static void press_part(void *gzip, void *part, unsigned int thread)
{
	static const int flushes[] = { [GZIP_MORE] = Z_NO_FLUSH, [GZIP_SYNC] = Z_SYNC_FLUSH, [GZIP_END] = Z_FINISH };
	struct gzip *z = gzip;
	struct part *p = part;
	z_stream *s = &z->streams[thread];

	p->err = begin(z, s);
	if (!p->err)
		p->err = press(s, p, z->frame ? Z_FINISH : flushes[p->how]);
	if (!p->err && z->frame)
		deflateReset(s);
}

/* A stream is made by one thread; blocks by as many as are not needed to make what is in them. */
static unsigned int threads(bool blocks)
{
	unsigned int most = blocks ? ORDERED_THREADS : 1, others = cpus() - 1;

	return others < most ? others : most;
}

struct gzip *gzip_open(gzip_frame frame)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->frame = frame;
	z->ordered = ordered_open(press_part, z, z->parts, sizeof(*z->parts), threads(frame));
	if (z->ordered)
		return z;
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

/*
 * Incompressible data are stored, with 5 bytes a block, and zlib's blocks are 16 KB or more (deflate.c, deflateBound:
 * 1/4096 plus a little, and 7 bytes). The end is an empty block and the trailer's 8 bytes.
 */
static uint64_t at_most(uint64_t bytes)
{
	return bytes + bytes / 1024 + 64 + GZIP_FRAME;
}

static int write_part(struct gzip *z, int fd, const struct part *p)
{
	char frame[GZIP_FRAME];
	int err = p->err;

	z->flying -= at_most(p->plain.size);
	if (!err && z->frame)
		err = write_all(z, fd, frame, z->frame(frame, p->packed.size) - frame);
	return err ? err : write_all(z, fd, p->packed.at, p->packed.size);
}

/* The parts that are ready; all of them if `wait`. After an error the rest are dropped. */
static int take_parts(struct gzip *z, int fd, bool wait)
{
	struct part *p;
	int err = 0;

	while ((p = ordered_take(z->ordered, wait)))
		err = err ? err : write_part(z, fd, p);
	return err;
}

static int give_part(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how)
{
	struct part *p = ordered_room(z->ordered);
	int err = 0;

	if (!p) {
		err = write_part(z, fd, ordered_take(z->ordered, true));
		p = ordered_room(z->ordered);
	}
	err = err ? err : make_room(&p->plain, size);
	if (err)
		return err;
	if (size)
		memcpy(p->plain.at, bytes, size);
	p->plain.size = size;
	p->how = how;
	z->flying += at_most(size);
	ordered_give(z->ordered);
	return 0;
}

int gzip_write(struct gzip *z, int fd, const void *bytes, size_t size, enum gzip_how how)
{
	int err = size || !z->frame ? give_part(z, fd, bytes, size, how) : 0;

	if (!z->frame)
		z->inside = how == GZIP_MORE ? z->inside + size : 0;
	return err ? err : take_parts(z, fd, how != GZIP_MORE);
}

int gzip_settle(struct gzip *z, int fd)
{
	return take_parts(z, fd, true);
}

uint64_t gzip_at_most(const struct gzip *z, size_t more)
{
	return z->written + z->flying + at_most(z->inside + more);
}

void gzip_free(struct gzip *z)
{
	if (!z)
		return;
	ordered_close(z->ordered);
	for (int i = 0; i < ORDERED_THREADS; i++)
		deflateEnd(&z->streams[i]);
	for (int i = 0; i <= ORDERED_THREADS; i++) {
		free(z->parts[i].plain.at);
		free(z->parts[i].packed.at);
	}
	free(z);
}
