// SPDX-License-Identifier: MIT
/*
 * Blocks are deflate.h's: half of the time of libdeflate's fastest level, which takes half of zlib's. A stream is
 * zlib's, whose parts can be followed. pako 1, with which viewers in browsers read .gz, ignores all streams but the
 * first.
 */
#include "gzip.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cpus.h"
#include "deflate.h"
#include "ordered.h"

#define LEVEL	    1	/* the fastest */
#define WINDOW_BITS -15 /* zlib.h: negative, without header and trailer */
#define MEMORY	    8	/* zlib's default */

/* What is given at a time, and what comes of it. */
struct part {
	int err;
	uint32_t crc; /* of a stream's part */
	struct gzip_bytes plain, packed;
};

/* Of a thread: one of them is used. */
struct press {
	struct deflate *blocks;
	z_stream stream;
};

struct gzip {
	gzip_frame frame;
	uint64_t written; /* bytes of the file */
	uint64_t flying;  /* of parts that are not written yet: at most so many bytes of the file */
	uint64_t given;	  /* bytes of the stream, */
	uint32_t crc;	  /* and of those that are written */
	struct ordered *ordered;
	struct part parts[ORDERED_THREADS + 1];
	struct press presses[ORDERED_THREADS];
};

int gzip_room(struct gzip_bytes *b, size_t size)
{
	char *bigger = size > b->room ? realloc(b->at, size) : b->at;

	if (size > b->room && !bigger)
		return -ENOMEM;
	b->at = bigger;
	b->room = size > b->room ? size : b->room;
	return 0;
}

static int press_block(struct press *press, struct part *p)
{
	int err;

	if (!press->blocks && !(press->blocks = deflate_new()))
		return -ENOMEM;
	err = gzip_room(&p->packed, gzip_bound(p->plain.size) + DEFLATE_ROOM);
	if (!err)
		p->packed.size = deflate_zlib(press->blocks, p->packed.at, p->plain.at, p->plain.size);
	return err;
}

static int begin(z_stream *s)
{
	if (s->state)
		return deflateReset(s) == Z_OK ? 0 : -ENOMEM;
	return deflateInit2(s, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK ? 0 : -ENOMEM;
}

/* What can follow another part, and be followed: no part refers to another one, and it ends with a byte. */
static int press_stream(struct press *press, struct part *p)
{
	z_stream *s = &press->stream;
	int err = begin(s);

	err = err ?: gzip_room(&p->packed, gzip_bound(p->plain.size));
	if (err)
		return err;
	p->crc = libdeflate_crc32(0, p->plain.at, p->plain.size);
	s->next_in = (unsigned char *)p->plain.at;
	s->avail_in = p->plain.size;
	s->next_out = (unsigned char *)p->packed.at;
	s->avail_out = p->packed.room;
	deflate(s, Z_SYNC_FLUSH);
	p->packed.size = p->packed.room - s->avail_out;
	return 0;
}

static void press_part(void *gzip, void *part, unsigned int thread)
{
	struct gzip *z = gzip;
	struct part *p = part;

	p->err = (z->frame ? press_block : press_stream)(&z->presses[thread], p);
}

/* As many as are not needed to make what is in them. */
static unsigned int threads(void)
{
	unsigned int others = cpus() - 1;

	return others < ORDERED_THREADS ? others : ORDERED_THREADS;
}

struct gzip *gzip_open(gzip_frame frame)
{
	struct gzip *z = calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->frame = frame;
	z->ordered = ordered_open(press_part, z, z->parts, sizeof(*z->parts), threads());
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

/* RFC 1952: deflate, no name, no time, the fastest level, Unix. */
static int write_header(struct gzip *z, int fd)
{
	return write_all(z, fd, "\x1f\x8b\x08\0\0\0\0\0\x04\x03", 10);
}

/* The last block, which is empty, then CRC and length. */
static int write_trailer(struct gzip *z, int fd)
{
	unsigned char bytes[10] = { 3, 0 };

	for (int i = 0; i < 4; i++) {
		bytes[2 + i] = z->crc >> 8 * i;
		bytes[6 + i] = z->given >> 8 * i;
	}
	return write_all(z, fd, bytes, sizeof(bytes));
}

static int write_part(struct gzip *z, int fd, const struct part *p)
{
	char frame[GZIP_FRAME];
	int err = p->err;

	z->flying -= gzip_bound(p->plain.size);
	if (err)
		return err;
	if (z->frame) {
		err = write_all(z, fd, frame, z->frame(frame, p->packed.size) - frame);
	} else {
		z->crc = crc32_combine(z->crc, p->crc, p->plain.size);
		z->given += p->plain.size;
		err = z->written ? 0 : write_header(z, fd);
	}
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

/* The buffer becomes the part's, and the part's older one the caller's. */
static int give_part(struct gzip *z, int fd, struct gzip_bytes *plain)
{
	struct part *p = ordered_room(z->ordered);
	struct gzip_bytes given = *plain;
	int err = 0;

	if (!p) {
		err = write_part(z, fd, ordered_take(z->ordered, true));
		p = ordered_room(z->ordered);
	}
	err = err ? err : gzip_room(&p->plain, plain->room);
	if (err)
		return err;
	*plain = p->plain;
	plain->size = 0;
	p->plain = given;
	z->flying += gzip_bound(given.size);
	ordered_give(z->ordered);
	return 0;
}

int gzip_write(struct gzip *z, int fd, struct gzip_bytes *plain, enum gzip_how how)
{
	int err = plain->size ? give_part(z, fd, plain) : 0, taken = take_parts(z, fd, how != GZIP_MORE);

	plain->size = 0;
	err = err ? err : taken;
	if (err || how != GZIP_END || z->frame)
		return err;
	err = z->written ? 0 : write_header(z, fd);
	return err ? err : write_trailer(z, fd);
}

int gzip_settle(struct gzip *z, int fd)
{
	return take_parts(z, fd, true);
}

uint64_t gzip_at_most(const struct gzip *z, size_t more)
{
	return z->written + z->flying + gzip_bound(more);
}

void gzip_free(struct gzip *z)
{
	if (!z)
		return;
	ordered_close(z->ordered);
	for (int i = 0; i < ORDERED_THREADS; i++) {
		deflate_free(z->presses[i].blocks);
		deflateEnd(&z->presses[i].stream);
	}
	for (int i = 0; i <= ORDERED_THREADS; i++) {
		free(z->parts[i].plain.at);
		free(z->parts[i].packed.at);
	}
	free(z);
}
