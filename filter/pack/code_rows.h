/* SPDX-License-Identifier: MIT */
/*
 * code_rows.h - a piece of a code table, taken apart for a compressor, and put together again.
 *
 * Most of a table is instructions: rows [offset,line,opcode,target], target -1 where there is none (docs/marker.md).
 * Each number nearly always follows from another one, which text hides: an offset from the opcode before it, a line
 * from the line before it, a target from the offset. So what does not follow is in columns. Any bytes at all come back
 * exactly: what is no row of four such numbers, as short as JSON has them, is a literal.
 *
 *   u32[7], little-endian: size of the piece, of each column
 *   runs      varints (LEB128), in turn: literal bytes, rows behind them, with commas between; until the piece is full
 *   literals  bytes
 *   offsets   varints: signed (2n, or -2n - 1), the step from the offset before, less the step that followed the last
 *             row with the same opcode as the row before; 0 if there was none in the piece. A run begins at offset 0,
 *             after an opcode that no row has
 *   lines     varints: signed, the line less the one before (0 in the first row)
 *   opcodes   bytes
 *   targets   varints: 0: -1; or 1 more than the target less the offset, signed
 *
 * A piece needs no other piece.
 */
#pragma once

#include "transpose.h"

#define CODE_ROWS_NUMBERS 7

struct code_rows;

struct code_rows *code_rows_new(void); /* NULL: no memory; code_rows_free takes it */
void code_rows_free(struct code_rows *r);

/*
 * Writes n bytes, at most TRANSPOSE_MOST, as columns at `to`, which has room for transpose_bound(n). Returns the size
 * of these.
 */
size_t code_rows_put(struct code_rows *r, const uint8_t *bytes, size_t n, uint8_t *to);

/* How many bytes the piece in `from` has, or -EBADMSG. */
int64_t code_rows_size(const uint8_t *from, size_t n);

/* Writes these bytes at `to`. 0, or -EBADMSG: that is not what code_rows_put wrote. */
int code_rows_get(struct code_rows *r, const uint8_t *from, size_t n, uint8_t *to);
