/* SPDX-License-Identifier: MIT */
/* pieces.h - which files of a recording are packed as columns, each piece as a file of its own, and how. */
#pragma once

#include "transpose.h"

enum piece_kind {
	PIECE_PLAIN, /* packed as it is */
	PIECE_DATA,  /* a perf.data (transpose.h) */
	PIECE_TABLE, /* a code table (code_rows.h) */
	PIECE_KINDS
};

struct pieces {
	struct transpose *transpose;
	struct code_rows *code_rows;
};

/* 0 or -ENOMEM; pieces_free in either case. */
int pieces_init(struct pieces *c);
void pieces_free(struct pieces *c);

enum piece_kind piece_kind_of(const char *name);

/* What is between a file's name and the number of a piece; NULL: of PIECE_PLAIN. */
const char *piece_suffix(enum piece_kind kind);

/* As transpose_put, transpose_size and transpose_get, of a kind that is not PIECE_PLAIN. */
size_t pieces_put(struct pieces *c, enum piece_kind kind, const uint8_t *bytes, size_t n, uint8_t *to);
int64_t pieces_size(enum piece_kind kind, const uint8_t *from, size_t n);
int pieces_get(struct pieces *c, enum piece_kind kind, const uint8_t *from, size_t n, uint8_t *to);
