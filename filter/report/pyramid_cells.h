/* SPDX-License-Identifier: MIT */
/* pyramid_cells.h - cells of columns.h in the numbers of a page: its rows, its paths or functions. */
#pragma once

#include "columns.h"
#include "flame.h"
#include "pyramid.h"

/* A cell of a row; `of` as an entry has it: ~of for what the page does not have. */
struct cell {
	uint32_t row : 8, column : 24;
	int32_t of;
	uint64_t ns, more[COLUMNS_MORE];
};

/* What it is of, or below. */
static inline uint32_t cell_of(const struct cell *c)
{
	return c->of < 0 ? ~c->of : c->of;
}

/* Adds the values of a cell. */
void cell_add(struct cell *to, const struct cell *c);

bool cell_has_values(const struct cell *c);

/* Of sorted cells: where the block of one row and column ends that begins there. */
size_t cells_block(const struct cell *cells, size_t from, size_t n);

/* The same cells in columns twice as wide, sorted and added up as they were: how many there are. `to` has room. */
size_t cells_halve(struct cell *to, const struct cell *cells, size_t n);

/* row_of[number of a row] is its number on the page, + 1; 0: it has none. */
struct cells_numbers {
	enum pyramid_of kind;
	const struct flame *f;
	const uint32_t *row_of;
};

/*
 * Those whose row the page has: by row, column and what they are of, those of one place added up. *n of them, for
 * free(). NULL: no memory.
 */
struct cell *cells_collect(size_t *n, const struct columns *c, const struct cells_numbers *numbers);
