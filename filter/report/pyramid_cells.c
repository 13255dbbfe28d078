// SPDX-License-Identifier: MIT
#include "pyramid_cells.h"

#include <stdlib.h>
#include <string.h>

static int32_t path_number(const struct flame *f, uint32_t node)
{
	return f->nodes[f->node_of[node]].of;
}

/* On the page 0 is the whole: paths have it as their root, functions behind it. */
static int32_t function_number(const struct flame *f, uint32_t node)
{
	uint32_t at = f->node_of[node], shown = at ? f->places[f->nodes[at].place].shown : 0;

	return shown ? (int32_t)shown : ~0;
}

void cell_add(struct cell *to, const struct cell *c)
{
	to->ns += c->ns;
	for (int i = 0; i < COLUMNS_MORE; i++)
		to->more[i] += c->more[i];
}

size_t cells_block(const struct cell *cells, size_t from, size_t n)
{
	size_t to = from + 1;

	while (to < n && cells[to].row == cells[from].row && cells[to].column == cells[from].column)
		to++;
	return to;
}

/* Two blocks, of which the other may be empty, as one. */
static struct cell *merge(struct cell *to, const struct cell *a, const struct cell *a_end, const struct cell *b,
			  const struct cell *b_end)
{
	uint32_t column = a->column / 2;

	for (; a < a_end || b < b_end; to++) {
		bool has_a = b == b_end || (a < a_end && a->of <= b->of);
		bool has_both = has_a && b < b_end && a->of == b->of;

		*to = has_a ? *a++ : *b++;
		to->column = column;
		if (has_both)
			cell_add(to, b++);
	}
	return to;
}

size_t cells_halve(struct cell *to, const struct cell *cells, size_t n)
{
	struct cell *at = to;

	for (size_t i = 0, next; i < n; i = next) {
		size_t middle = cells_block(cells, i, n);

		next = middle;
		if (middle < n && cells[middle].row == cells[i].row && cells[middle].column / 2 == cells[i].column / 2)
			next = cells_block(cells, middle, n);
		at = merge(at, cells + i, cells + middle, cells + middle, cells + next);
	}
	return at - to;
}

bool cell_has_values(const struct cell *c)
{
	bool has = c->ns;

	for (int i = 0; i < COLUMNS_MORE; i++)
		has |= c->more[i] != 0;
	return has;
}

/* Sorts as cells do: by row, column, what it is of. */
struct place {
	uint64_t at;
	uint32_t cell; /* its number in the columns */
};

/* By one byte, keeping the order of those that have the same: whether any differ. */
static bool sort_by_byte(struct place *to, const struct place *places, size_t n, unsigned shift)
{
	size_t ends[256] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		ends[places[i].at >> shift & 0xff]++;
	if (n && ends[places[0].at >> shift & 0xff] == n)
		return false;
	for (unsigned i = 0; i < 256; i++) {
		size_t count = ends[i];

		ends[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[ends[places[i].at >> shift & 0xff]++] = places[i];
	return true;
}

/* With as much room behind them. There are many, and few bytes differ. Where they are then. */
static struct place *sort(struct place *places, size_t n)
{
	struct place *other = places + n;

	for (unsigned shift = 0; shift < 64; shift += 8)
		if (sort_by_byte(other, places, n, shift)) {
			struct place *sorted = other;

			other = places;
			places = sorted;
		}
	return places;
}

static uint64_t place_of(const struct cells_numbers *numbers, uint64_t key)
{
	uint32_t node = columns_node(key);
	int32_t of = numbers->kind == PYRAMID_PATHS ? path_number(numbers->f, node) : function_number(numbers->f, node);
	uint64_t row = numbers->row_of[columns_number(key)] - 1;

	return row << 56 | (uint64_t)columns_column(key) << 32 | ((uint32_t)of ^ 1u << 31);
}

static size_t places_collect(struct place *places, const struct columns *c, const struct cells_numbers *numbers)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->cells.n; i++) {
		uint64_t key = c->cells.all[i].key;

		if (numbers->row_of[columns_number(key)])
			places[n++] = (struct place){ place_of(numbers, key), i };
	}
	return n;
}

/* How many are of one place only once. */
static size_t count(const struct place *places, size_t n)
{
	size_t different = 0;

	for (size_t i = 0; i < n; i++)
		different += !i || places[i].at != places[i - 1].at;
	return different;
}

static struct cell make_cell(const struct column_cell *from, uint64_t at)
{
	struct cell cell = { at >> 56, columns_column(from->key), (int32_t)((uint32_t)at ^ 1u << 31), from->ns, { 0 } };

	memcpy(cell.more, from->more, sizeof(cell.more));
	return cell;
}

static void fill(struct cell *cells, const struct columns *c, const struct place *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cell cell = make_cell(&c->cells.all[places[i].cell], places[i].at);

		if (i && places[i].at == places[i - 1].at)
			cell_add(cells - 1, &cell);
		else
			*cells++ = cell;
	}
}

struct cell *cells_collect(size_t *ncells, const struct columns *c, const struct cells_numbers *numbers)
{
	struct place *all = calloc(2 * (size_t)c->cells.n + 1, sizeof(*all)), *places;
	size_t n = all ? places_collect(all, c, numbers) : 0;
	struct cell *cells;

	if (!all)
		return NULL;
	places = sort(all, n);
	*ncells = count(places, n);
	cells = calloc(*ncells + 1, sizeof(*cells));
	if (cells)
		fill(cells, c, places, n);
	free(all);
	return cells;
}
