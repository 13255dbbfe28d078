/* SPDX-License-Identifier: MIT */
/*
 * out.h - a file being written: buffered, and either complete or absent.
 *
 * A regular file grows without a name, or, where the file system cannot do that, under a temporary one, PATH.PID-N.tmp,
 * and gets its own when it is closed: so nobody mistakes a partial file for a complete one, and nothing is left of one
 * whose process is killed. If two are written at once, one complete file remains. "-" is standard output; that, pipes
 * and devices are written directly. A path that ends in .gz is compressed (gzip.h).
 *
 * The first error sticks: everything written after it goes nowhere. out_position says it in words.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gzip.h"

#define OUT_DIGITS 21 /* maximum room for out_dec; out_us needs one more */

struct out {
	int fd;		  /* -1: not open */
	int err;	  /* 0 or a negative errno */
	char *path;	  /* as the user named it */
	bool nameless;	  /* the file written until out_close has no name yet */
	char *temporary;  /* or this one; NULL: written directly, or nameless */
	char *target;	  /* what it is renamed to: path, symbolic links resolved; NULL: written directly */
	struct gzip *zip; /* NULL: not compressed */
	uint64_t written; /* bytes that left the buffer, before compression */
	char *buffer;
	size_t size, used;
};

/*
 * Would both be written to one place? However they are spelled, and whether the file exists or not; but devices such as
 * /dev/null take any number.
 */
bool out_same(const char *a, const char *b);

/* 0 or a negative errno, and then why in `error`. */
int out_open(struct out *o, const char *path, char *error, size_t size);

/*
 * Compresses what is written from here on in blocks, each in a frame (gzip.h); no block ends within one out_commit. A
 * file that is compressed as a whole stays so. 0 or -ENOMEM.
 */
int out_frames(struct out *o, gzip_frame frame);

/* As out_reserve, where the buffer has less. */
char *out_make_room(struct out *o, size_t size);

/*
 * Room for `size` bytes. The caller writes at most that many and passes the end of what it wrote to out_commit. NULL:
 * no memory, and o->err says so.
 */
static inline char *out_reserve(struct out *o, size_t size)
{
	return o->size - o->used < size ? out_make_room(o, size) : o->buffer + o->used;
}

static inline void out_commit(struct out *o, const char *end)
{
	o->used = end - o->buffer;
}

void out_put(struct out *o, const char *bytes, size_t size);

/* The lowest `size` bytes of n, little-endian; at most 8. */
void out_number(struct out *o, uint64_t n, size_t size);

/* Would the file stay within `most` bytes if `more` were written now and it were closed? May write. */
bool out_fits(struct out *o, uint64_t more, uint64_t most);

/* o->err; if it is not 0, also "cannot write PATH: REASON" into `error`. */
int out_position(const struct out *o, char *error, size_t size);

/* Writes what is buffered: somebody waits for it. */
void out_flush(struct out *o);

/*
 * Writes what is buffered and gives the file its name. Returns 0, or the first error, with its text in `error`, and
 * leaves no file. Frees everything.
 */
int out_close(struct out *o, char *error, size_t size);

/* Leaves no file behind, and frees everything. Harmless after out_close. */
void out_discard(struct out *o);

/* Write a number at `to` and return its end; not terminated. */
char *out_dec(char *to, uint64_t n);
char *out_int(char *to, int64_t n);
char *out_hex(char *to, uint64_t n);  /* at most 16 digits */
char *out_us(char *to, uint64_t ns);  /* microseconds with 3 decimals */
char *out_six(char *to, unsigned ns); /* the same of less than a million, always with 3 digits before them */
