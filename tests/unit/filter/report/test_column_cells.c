/* SPDX-License-Identifier: MIT */
/* test_column_cells.c - sums under keys are what was added, however many there are, and stay so in wider columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/column_cells.h"

#define ROWS	3
#define COLUMNS 64
#define NODES	500
#define ALL	(ROWS * COLUMNS * NODES)

static struct column_cell *wanted; /* [row][column][node] */

static struct column_cell *place(uint32_t row, uint32_t column, uint32_t node)
{
	return &wanted[(row * COLUMNS + column) * NODES + node];
}

static void fill(struct column_cells *c, int n)
{
	srand(1);
	for (int i = 0; i < n; i++) {
		uint32_t row = rand() % ROWS, column = rand() % COLUMNS, node = rand() % NODES;
		struct column_cell *to = place(row, column, node), more = { .key = columns_key(row, column, node) };
		int kind = rand() % (COLUMNS_MORE + 1);
		uint64_t value = 1 + rand() % 1000;

		*(kind == COLUMNS_MORE ? &more.ns : &more.more[kind]) = value;
		*(kind == COLUMNS_MORE ? &to->ns : &to->more[kind]) += value;
		assert_int_equal(column_cells_add(c, &more), 0);
	}
}

static void check(const struct column_cells *c, uint32_t columns)
{
	uint32_t timed = 0, has[COLUMNS_MORE] = { 0 }, n = 0;

	for (uint32_t i = 0; i < ALL; i++) {
		uint32_t row = i / NODES / COLUMNS, column = i / NODES % COLUMNS, node = i % NODES;
		const struct column_cell *cell = column_cells_find(c, columns_key(row, column, node));
		const struct column_cell none = { 0 };

		if (column >= columns || !cell) {
			assert_null(cell);
			assert_memory_equal(&wanted[i], &none, sizeof(none));
			continue;
		}
		assert_int_equal(cell->key, columns_key(row, column, node));
		assert_int_equal(cell->ns, wanted[i].ns);
		assert_memory_equal(cell->more, wanted[i].more, sizeof(cell->more));
		n++;
		timed += cell->ns != 0;
		for (int kind = 0; kind < COLUMNS_MORE; kind++)
			has[kind] += cell->more[kind] != 0;
	}
	assert_int_equal(c->n, n);
	assert_int_equal(c->timed, timed);
	assert_memory_equal(c->has, has, sizeof(has));
}

static void halve(void)
{
	struct column_cell *halved = calloc(ALL, sizeof(*halved));

	assert_non_null(halved);
	for (uint32_t i = 0; i < ALL; i++) {
		struct column_cell *to =
			&halved[(i / NODES / COLUMNS * COLUMNS + i / NODES % COLUMNS / 2) * NODES + i % NODES];

		to->ns += wanted[i].ns;
		for (int kind = 0; kind < COLUMNS_MORE; kind++)
			to->more[kind] += wanted[i].more[kind];
	}
	free(wanted);
	wanted = halved;
}

static void test_sums(void **state)
{
	static const int numbers[] = { 0, 1, 50, 3000, 400000 };

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct column_cells c = { 0 };

		wanted = calloc(ALL, sizeof(*wanted));
		assert_non_null(wanted);
		fill(&c, numbers[i]);
		check(&c, COLUMNS);
		for (uint32_t columns = COLUMNS; columns > 1; columns /= 2) {
			halve();
			column_cells_halve(&c);
			check(&c, columns / 2);
		}
		fill(&c, 1000); /* there is room behind what was halved */
		column_cells_free(&c);
		assert_null(column_cells_find(&c, 1));
		free(wanted);
	}
}

/* What is not needed any more is given back: of columns in several threads, all of them count. */
static void test_memory(void **state)
{
	struct column_cells c = { 0 };
	uint32_t room;

	(void)state;
	for (uint32_t i = 0; i < 1u << 16; i++) {
		const struct column_cell more = { .key = columns_key(0, i % 2048, i / 2048), .ns = 1 };

		assert_int_equal(column_cells_add(&c, &more), 0);
	}
	room = c.room;
	assert_in_range(c.size, (1u << 16) * 4 / 3, 1u << 17);
	for (int i = 0; i < 4; i++)
		column_cells_halve(&c);
	assert_int_equal(c.n, 1u << 12);
	assert_true(c.room < room / 8);
	assert_int_equal(column_cells_find(&c, columns_key(0, 127, 31))->ns, 16);
	column_cells_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_memory),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
