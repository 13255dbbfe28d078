/* SPDX-License-Identifier: MIT */
/*
 * transpose.h - a piece of a perf.data, taken apart for a compressor, and put together again.
 *
 * Nearly all of a recording is one pattern, CYC + PTW. In a PTW nothing but the place repeats, and its sequence number
 * hides that: so times, words and everything else are separate columns, and a word has the distance to the number that
 * was due instead of its own. A word of 32 bits stands for one that came before (numbered.h): that is written instead,
 * and which words are short is not. Any bytes at all come back exactly; what is not such a pair is a literal.
 *
 *   u32[6], little-endian: size of the piece, of each column; the step of the clock (ticks.h), 0: none
 *   runs      varints (LEB128), in turn: literal bytes, pairs behind them << 1 | wide; until the piece is full
 *   literals  bytes; where there are at least TRANSPOSE_CHUNK of them, words have no numbers any more
 *   cycles    CYC packets as they are: an Exp bit says that another byte follows; or steps of the clock (ticks.h)
 *   words     8 bytes each (wide) or 4, little-endian, with the distance in place of the sequence number; in the piece
 *             a wide one has 4 bytes if there is a number that stands for it
 *
 * A piece needs no other piece.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TRANSPOSE_MOST	(4u << 20) /* bytes of a piece */
#define TRANSPOSE_CHUNK 16u	   /* bytes of a PSB, with which a chunk begins */

/* Room that transpose_put needs for a piece of n bytes: 9 for 7 of a CYC and a word of 32 bits, and their runs. */
static inline size_t transpose_bound(size_t n)
{
	return 6 * sizeof(uint32_t) + n + n / 2 + 32;
}

struct transpose;

struct transpose *transpose_new(void); /* NULL: no memory; transpose_free takes it */
void transpose_free(struct transpose *t);

/* Writes n bytes, at most TRANSPOSE_MOST, as columns at `to`. Returns the size of these. */
size_t transpose_put(struct transpose *t, const uint8_t *bytes, size_t n, uint8_t *to);

/* How many bytes the piece in `from` has, or -EBADMSG. */
int64_t transpose_size(const uint8_t *from, size_t n);

/* Writes these bytes at `to`. 0, or -EBADMSG: that is not what transpose_put wrote. */
int transpose_get(struct transpose *t, const uint8_t *from, size_t n, uint8_t *to);
