/* SPDX-License-Identifier: MIT */
/*
 * column_cells.h - what is known of a node of a call tree in a column (columns.h): sums, under a key of both and a row.
 *
 * Cells lie in one array, in order of appearance, and a table of their numbers finds them: 46 to 53 bytes for each. A
 * table of pairs (base/map.h) for each of the sums takes 32 to 64 a sum.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What is known of a cell beside its time. */
enum columns_more { COLUMNS_WAITING, COLUMNS_PREEMPTED, COLUMNS_CALLS, COLUMNS_MORE };

struct column_cell {
	uint64_t key;
	uint64_t ns, more[COLUMNS_MORE]; /* ns, ns, and how often */
};

/* Zeroed: none. */
struct column_cells {
	struct column_cell *all; /* [n] */
	uint32_t n, room;
	uint32_t *numbers; /* [size], a power of two: of a cell, + 1; 0: free */
	uint32_t size;
	uint32_t timed, has[COLUMNS_MORE]; /* how many have a time, and each of the others */
};

/* A cell's key: columns_column() and so on take it apart. */
static inline uint64_t columns_key(uint32_t row, uint32_t column, uint32_t node)
{
	return (uint64_t)node << 32 | (row & 0xfffff) << 12 | column;
}

static inline uint32_t columns_column(uint64_t key)
{
	return key & 0xfff;
}

static inline uint32_t columns_number(uint64_t key)
{
	return key >> 12 & 0xfffff;
}

static inline uint32_t columns_node(uint64_t key)
{
	return key >> 32;
}

/* Adds what `more` has to the cell of its key, which is made if need be. 0 or -ENOMEM. */
int column_cells_add(struct column_cells *c, const struct column_cell *more);

/* The cell, until one is added. NULL: there is none. */
const struct column_cell *column_cells_find(const struct column_cells *c, uint64_t key);

/* Columns become twice as wide: cells of two neighbours are one. It needs no memory, and gives back what it can. */
void column_cells_halve(struct column_cells *c);

void column_cells_free(struct column_cells *c);
