/* SPDX-License-Identifier: MIT */
/*
 * pyramid.h - columns.h made small enough for a page: what a thread did in each column, in each pair of columns, in
 * each four, and so on. What is known of any span is the sum of a few blocks of it.
 *
 * There are two, of the same columns. One has the paths of flame.h: those that are at least one of `parts` of a block's
 * time with all below them, each with its own values; what is smaller is added up below the nearest caller that is
 * there. The other one has the functions: those whose own time is one of `parts` of a column, in wide blocks, too,
 * where that is less of the block, unless there are too many. A program of many paths has few functions, so that
 * these can be told apart where paths cannot. The sum of each block is exact in both.
 */
#pragma once

#include "columns.h"
#include "flame.h"

enum pyramid_of { PYRAMID_PATHS, PYRAMID_FUNCTIONS, PYRAMIDS };

#define PYRAMID_PARTS	64
#define PYRAMID_LEAST	8     /* parts, where the limit asks for fewer */
#define PYRAMID_ENTRIES 75000 /* of each: the page is to stay below 3 MB */
#define PYRAMID_ROWS	48    /* threads; the time of others is one more row */

struct pyramid_entry {
	uint32_t block;
	int32_t of; /* a path's number on the page, or a function's + 1; 0: the whole; ~of: what is smaller, below it */
	uint64_t ns, more[COLUMNS_MORE];
};

struct pyramid_level {
	struct pyramid_entry *entries; /* [n], by block */
	size_t n;
};

#define PYRAMID_LEVELS 12 /* 2048 columns are 1 << 11 */

struct pyramid_row {
	const struct columns_row *of; /* NULL: all others */
	uint64_t ns;
	struct pyramid_level levels[PYRAMIDS][PYRAMID_LEVELS];
};

struct pyramid {
	struct pyramid_row *rows; /* [nrows]; most time first */
	uint32_t nrows, others;	  /* how many threads are in the last row */
	uint64_t origin_ns, width_ns;
	uint32_t ncolumns, nlevels; /* used */
	uint32_t parts[PYRAMIDS];
	bool of_columns; /* parts of functions are of a column; else of each block, as those of paths */
};

/* After columns_finish(). 0 or -ENOMEM; pyramid_free() either way. */
int pyramid_make(struct pyramid *p, const struct columns *c, const struct flame *f);
void pyramid_free(struct pyramid *p);
