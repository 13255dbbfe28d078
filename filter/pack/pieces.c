// SPDX-License-Identifier: MIT
#include "pieces.h"

#include <errno.h>

#include "about.h"
#include "code_rows.h"

static const char *const suffixes[PIECE_KINDS] = { [PIECE_DATA] = ".columns/", [PIECE_TABLE] = ".rows/" };

int pieces_init(struct pieces *c)
{
	*c = (struct pieces){ transpose_new(), code_rows_new() };
	return c->transpose && c->code_rows ? 0 : -ENOMEM;
}

void pieces_free(struct pieces *c)
{
	transpose_free(c->transpose);
	code_rows_free(c->code_rows);
}

enum piece_kind piece_kind_of(const char *name)
{
	return about_is_data(name) ? PIECE_DATA : about_is_table(name) ? PIECE_TABLE : PIECE_PLAIN;
}

const char *piece_suffix(enum piece_kind kind)
{
	return suffixes[kind];
}

size_t pieces_put(struct pieces *c, enum piece_kind kind, const uint8_t *bytes, size_t n, uint8_t *to)
{
	return kind == PIECE_DATA ? transpose_put(c->transpose, bytes, n, to)
				  : code_rows_put(c->code_rows, bytes, n, to);
}

int64_t pieces_size(enum piece_kind kind, const uint8_t *from, size_t n)
{
	return kind == PIECE_DATA ? transpose_size(from, n) : code_rows_size(from, n);
}

int pieces_get(struct pieces *c, enum piece_kind kind, const uint8_t *from, size_t n, uint8_t *to)
{
	return kind == PIECE_DATA ? transpose_get(c->transpose, from, n, to) : code_rows_get(c->code_rows, from, n, to);
}
