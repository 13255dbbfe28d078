/* SPDX-License-Identifier: MIT */
/* comes_back.h - a piece as columns and back, of either kind. After cmocka.h. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "pack/pieces.h"

static struct pieces pieces;
static uint8_t made[2 * TRANSPOSE_MOST], back[TRANSPOSE_MOST];

static int make(void **unused)
{
	(void)unused;
	return pieces_init(&pieces);
}

static int drop(void **unused)
{
	(void)unused;
	pieces_free(&pieces);
	return 0;
}

/* In heap blocks of their exact size, so that ASan sees any byte too far. Returns the size of the columns in `made`. */
static size_t kind_comes_back(enum piece_kind kind, const void *bytes, size_t n)
{
	uint8_t *piece = malloc(n ? n : 1), *whole;
	size_t size;

	memcpy(piece, bytes, n);
	size = pieces_put(&pieces, kind, piece, n, made);
	assert_true(size <= transpose_bound(n));
	whole = malloc(size);
	memcpy(whole, made, size);
	assert_int_equal(pieces_size(kind, whole, size), n);
	assert_int_equal(pieces_get(&pieces, kind, whole, size, piece), 0);
	assert_memory_equal(piece, bytes, n);
	free(whole);
	free(piece);
	return size;
}
