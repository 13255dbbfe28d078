// SPDX-License-Identifier: MIT
/* Linear probing over a table that is at most five eighths full: it holds no keys, which are in the cells. */
#include "column_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

#define ROOM_LEAST 64

/*
 * The parts of a key are small numbers in a row, so that one multiplication, as of base/map.h, leaves long runs, which
 * a fuller table has to walk. The factor is 2^64 / golden ratio.
 */
static uint32_t start_of(const struct column_cells *c, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15ull;

	return ((hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull >> 32) & (c->size - 1);
}

/* Where the key's number is, or would be. */
static uint32_t *place_of(const struct column_cells *c, uint64_t key)
{
	uint32_t i = start_of(c, key);

	while (c->numbers[i] && c->all[c->numbers[i] - 1].key != key)
		i = (i + 1) & (c->size - 1);
	return &c->numbers[i];
}

static int grow_table(struct column_cells *c)
{
	uint32_t size = c->size ? 2 * c->size : 2 * ROOM_LEAST;
	uint32_t *numbers = calloc(size, sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	free(c->numbers);
	c->numbers = numbers;
	c->size = size;
	for (uint32_t i = 0; i < c->n; i++)
		*place_of(c, c->all[i].key) = i + 1;
	return 0;
}

/* For one more. */
static int make_room(struct column_cells *c)
{
	uint32_t room = c->n + c->n / 2 + ROOM_LEAST;

	if (c->n == c->room) {
		if (!ARRAY_RESIZE(c->all, room))
			return -ENOMEM;
		c->room = room;
	}
	return c->n / 5 >= c->size / 8 ? grow_table(c) : 0;
}

static void count(struct column_cells *c, const struct column_cell *was, const struct column_cell *more)
{
	c->timed += !was->ns && more->ns;
	for (int i = 0; i < COLUMNS_MORE; i++)
		c->has[i] += !was->more[i] && more->more[i];
}

static void add_to(struct column_cells *c, struct column_cell *to, const struct column_cell *more)
{
	count(c, to, more);
	to->ns += more->ns;
	for (int i = 0; i < COLUMNS_MORE; i++)
		to->more[i] += more->more[i];
}

/* There is room for it. */
static void put(struct column_cells *c, const struct column_cell *more)
{
	uint32_t *number = place_of(c, more->key);

	if (!*number) {
		c->all[c->n] = (struct column_cell){ .key = more->key };
		*number = ++c->n;
	}
	add_to(c, &c->all[*number - 1], more);
}

int column_cells_add(struct column_cells *c, const struct column_cell *more)
{
	uint32_t number = c->size ? *place_of(c, more->key) : 0;
	int err = number ? 0 : make_room(c);

	if (number)
		add_to(c, &c->all[number - 1], more);
	else if (!err)
		put(c, more);
	return err;
}

const struct column_cell *column_cells_find(const struct column_cells *c, uint64_t key)
{
	uint32_t number = c->size ? *place_of(c, key) : 0;

	return number ? &c->all[number - 1] : NULL;
}

/* In place: what was put is never ahead of what is read. */
void column_cells_halve(struct column_cells *c)
{
	struct column_cells halved = { .all = c->all, .room = c->room, .numbers = c->numbers, .size = c->size };

	if (c->size)
		memset(c->numbers, 0, c->size * sizeof(*c->numbers));
	for (uint32_t i = 0; i < c->n; i++) {
		struct column_cell cell = c->all[i];

		cell.key = columns_key(columns_number(cell.key), columns_column(cell.key) / 2, columns_node(cell.key));
		put(&halved, &cell);
	}
	*c = halved;
	if (c->n < c->room / 2 && ARRAY_RESIZE(c->all, c->n + ROOM_LEAST))
		c->room = c->n + ROOM_LEAST;
}

void column_cells_free(struct column_cells *c)
{
	free(c->all);
	free(c->numbers);
	*c = (struct column_cells){ 0 };
}
