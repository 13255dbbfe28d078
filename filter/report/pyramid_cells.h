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

/* Adds the values of a cell. */
void cell_add(struct cell *to, const struct cell *c);

bool cell_has_values(const struct cell *c);

/* Sorts by row, column and what it is of, and adds up those of one place: how many are left. */
size_t cells_join(struct cell *cells, size_t n);

/* How many cells there are. */
size_t cells_count(const struct columns *c);

/* row_of[number of a row] is its number on the page, + 1; 0: it has none. */
struct cells_numbers {
	enum pyramid_of kind;
	const struct flame *f;
	const uint32_t *row_of;
};

/* Fills in `cells`, which has room for that many, with those whose row the page has. How many there are. */
size_t cells_collect(struct cell *cells, const struct columns *c, const struct cells_numbers *numbers);
