// SPDX-License-Identifier: MIT
#include "pyramid_cells.h"

#include <stdlib.h>

static int32_t path_number(const struct flame *f, uint32_t node)
{
	uint32_t at = f->node_of[node], shown = at;

	while (!f->nodes[shown].shown)
		shown = f->nodes[shown].parent;
	return shown == at ? (int32_t)(f->nodes[shown].shown - 1) : ~(int32_t)(f->nodes[shown].shown - 1);
}

/* On the page 0 is the whole: paths have it as their root, functions behind it. */
static int32_t function_number(const struct flame *f, uint32_t node)
{
	uint32_t at = f->node_of[node], shown = at ? f->places[f->nodes[at].place].shown : 0;

	return shown ? (int32_t)shown : ~0;
}

static int by_place(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return (a->of > b->of) - (a->of < b->of);
}

void cell_add(struct cell *to, const struct cell *c)
{
	to->ns += c->ns;
	for (int i = 0; i < COLUMNS_MORE; i++)
		to->more[i] += c->more[i];
}

size_t cells_join(struct cell *cells, size_t n)
{
	size_t used = 0;

	qsort(cells, n, sizeof(*cells), by_place);
	for (size_t i = 0; i < n; i++)
		if (used && !by_place(&cells[used - 1], &cells[i]))
			cell_add(&cells[used - 1], &cells[i]);
		else
			cells[used++] = cells[i];
	return used;
}

bool cell_has_values(const struct cell *c)
{
	bool has = c->ns;

	for (int i = 0; i < COLUMNS_MORE; i++)
		has |= c->more[i] != 0;
	return has;
}

/* Where neither time nor, of the kinds before, anything else was: a call that took no time. */
static bool is_first(const struct columns *c, int kind, uint64_t key)
{
	bool first = !map_get(&c->cells, key);

	for (int i = 0; i < kind && first; i++)
		first = !map_get(&c->more[i], key);
	return first;
}

/* With all that is known of it. */
static struct cell make_cell(const struct columns *c, const struct cells_numbers *numbers, uint64_t key)
{
	int32_t (*number)(const struct flame *, uint32_t) = numbers->kind == PYRAMID_PATHS ? path_number
											   : function_number;
	struct cell cell = { .row = numbers->row_of[columns_number(key)] - 1,
			     .column = columns_column(key),
			     .of = number(numbers->f, columns_node(key)) };

	cell.ns = (uintptr_t)map_get(&c->cells, key);
	for (int i = 0; i < COLUMNS_MORE; i++)
		cell.more[i] = (uintptr_t)map_get(&c->more[i], key);
	return cell;
}

size_t cells_count(const struct columns *c)
{
	size_t n = c->cells.used;

	for (int i = 0; i < COLUMNS_MORE; i++)
		for (struct map_slot *s = NULL; (s = map_next(&c->more[i], s));)
			n += is_first(c, i, s->key);
	return n;
}

size_t cells_collect(struct cell *cells, const struct columns *c, const struct cells_numbers *numbers)
{
	const uint32_t *row_of = numbers->row_of;
	size_t n = 0;

	for (struct map_slot *s = NULL; (s = map_next(&c->cells, s));)
		if (row_of[columns_number(s->key)])
			cells[n++] = make_cell(c, numbers, s->key);
	for (int i = 0; i < COLUMNS_MORE; i++)
		for (struct map_slot *s = NULL; (s = map_next(&c->more[i], s));)
			if (row_of[columns_number(s->key)] && is_first(c, i, s->key))
				cells[n++] = make_cell(c, numbers, s->key);
	return n;
}
