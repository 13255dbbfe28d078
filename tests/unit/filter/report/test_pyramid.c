/* SPDX-License-Identifier: MIT */
/*
 * test_pyramid.c - every block adds up to what the columns have; what is large enough is apart, the rest below the
 * nearest caller that is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/pyramid.h"

/* main calls f1 to f20, and each of them g. */
#define KIDS  20
#define NODES (1 + 2 * KIDS)

static struct codes codes;
static struct calltree tree;
static struct columns columns;
static struct flame flame;
static uint32_t nodes[NODES]; /* main; then each f and its g */

static void visit(struct code *code, bool enters, uint32_t *node)
{
	struct activation a = { .pid = 7, .tid = 7, .code = code, .op = OP_PY_START, .start_ns = 0 };

	if (enters)
		assert_int_equal(calltree_enter(&tree, &a), 0);
	if (enters && node)
		*node = calltree_at(&tree, &a);
	if (!enters)
		assert_int_equal(calltree_leave(&tree, &a, 1000, 1000), 0);
}

static struct code *code_of(const char *name, int line)
{
	return codes_intern(codes_process(&codes, 7), "m.py", name, line);
}

static int set_up(void **state)
{
	struct code *main_code, *g;

	(void)state;
	codes_init(&codes, NULL);
	tree = (struct calltree){ 0 };
	columns = (struct columns){ 0 };
	main_code = code_of("main", 1);
	g = code_of("g", 2);
	visit(main_code, true, &nodes[0]);
	for (int i = 0; i < KIDS; i++) {
		struct code *f = code_of("f", 10 + i);

		visit(f, true, &nodes[1 + 2 * i]);
		visit(g, true, &nodes[2 + 2 * i]);
		visit(g, false, NULL);
		visit(f, false, NULL);
	}
	visit(main_code, false, NULL);
	return flame_make(&flame, &tree);
}

static int tear_down(void **state)
{
	(void)state;
	flame_free(&flame);
	columns_free(&columns);
	calltree_free(&tree);
	codes_free(&codes);
	return 0;
}

static uint64_t block_sum(const struct pyramid_level *l, uint32_t block)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->n; i++)
		sum += l->entries[i].block == block ? l->entries[i].ns : 0;
	return sum;
}

/* All nodes, of columns from `column` on. */
static uint64_t columns_of(const struct columns_row *row, uint32_t column, uint32_t n)
{
	uint64_t sum = 0;

	for (int i = 0; i < NODES; i++)
		sum += columns_sum(&columns, row, nodes[i], column, n);
	return sum;
}

static void check(const struct pyramid *p, uint32_t row)
{
	for (int kind = 0; kind < PYRAMIDS; kind++)
		for (uint32_t level = 0; level < p->nlevels; level++)
			for (uint32_t block = 0; block << level < p->ncolumns; block++)
				assert_int_equal(block_sum(&p->rows[row].levels[kind][level], block),
						 columns_of(p->rows[row].of, block << level, 1u << level));
}

static void test_sums(void **state)
{
	struct columns_row *rows[2] = { columns_row(&columns, 7, 7), columns_row(&columns, 7, 8) };
	struct pyramid p;

	(void)state;
	srand(1);
	for (uint64_t now = 0; now < 3000000; now += rand() % 900)
		assert_int_equal(
			columns_go(&columns, rows[rand() % 4 == 0], now, rand() % 9 ? nodes[rand() % NODES] : 0), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	assert_int_equal(p.nrows, 2);
	assert_int_equal(p.width_ns, columns.width_ns);
	assert_true(p.ncolumns > COLUMNS_MOST / 2);
	check(&p, 0);
	check(&p, 1);
	pyramid_free(&p);
}

/* Threads with the same times: the order is not that in which they came, which depends on who read them. */
static void test_equal_threads(void **state)
{
	struct columns_row *rows[3] = { columns_row(&columns, 7, 9), columns_row(&columns, 7, 7),
					columns_row(&columns, 7, 8) };
	struct pyramid p;

	(void)state;
	for (uint64_t now = 0; now < 3000; now += 1000)
		for (int i = 0; i < 3; i++)
			assert_int_equal(columns_go(&columns, rows[i], now, now < 2000 ? nodes[0] : 0), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	assert_int_equal(p.nrows, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(p.rows[i].of->tstate.tid, 7 + i);
	pyramid_free(&p);
}

static const struct pyramid_entry *entry(const struct pyramid_level *l, int32_t of)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->entries[i].of == of)
			return &l->entries[i];
	return NULL;
}

/* One column: f1 has most of it; f2 and its g together more than one of 64, but neither alone; f3 too little. */
static void test_small_ones(void **state)
{
	struct columns_row *row = columns_row(&columns, 7, 7);
	uint64_t times[NODES] = { [0] = 50, [1] = 900, [3] = 9, [4] = 8, [5] = 5 }, now = 10;
	const struct pyramid_level *l;
	struct pyramid p;

	(void)state;
	for (int i = 0; i < NODES; i++) {
		assert_int_equal(columns_go(&columns, row, now, nodes[i]), 0);
		now += times[i];
	}
	assert_int_equal(columns_go(&columns, row, now, 0), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	assert_int_equal(p.parts[PYRAMID_PATHS], PYRAMID_PARTS);
	assert_int_equal(p.nlevels, 1);
	l = &p.rows[0].levels[PYRAMID_PATHS][0];
	/* Paths of the page: 0 is the whole, then in order of appearance. */
	assert_int_equal(entry(l, 1)->ns, 50);
	assert_int_equal(entry(l, 2)->ns, 900);
	assert_int_equal(entry(l, 4)->ns, 9);
	assert_int_equal(entry(l, ~4)->ns, 8);
	assert_int_equal(entry(l, ~1)->ns, 5);
	assert_int_equal(l->n, 5);
	pyramid_free(&p);
}

/* One column: g has too little on each of its 20 paths; it is one function, and has most of the column. */
static void test_functions(void **state)
{
	struct columns_row *row = columns_row(&columns, 7, 7);
	const struct pyramid_level *l;
	struct pyramid p;
	uint64_t now = 10;

	(void)state;
	for (int i = 0; i < KIDS; i++, now += 3) {
		assert_int_equal(columns_go(&columns, row, now, nodes[1 + 2 * i]), 0);
		assert_int_equal(columns_go(&columns, row, now + 1, nodes[2 + 2 * i]), 0);
	}
	assert_int_equal(columns_go(&columns, row, now, nodes[0]), 0);
	assert_int_equal(columns_go(&columns, row, now + 100, 0), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	l = &p.rows[0].levels[PYRAMID_FUNCTIONS][0];
	/* In order of appearance, + 1: main, f, g. Each f is a function of its own line, with 1 of 160. */
	assert_int_equal(entry(l, 1)->ns, 100);
	assert_int_equal(entry(l, 3)->ns, 2 * KIDS);
	assert_int_equal(entry(l, ~0)->ns, KIDS);
	assert_int_equal(l->n, 3);
	pyramid_free(&p);
}

/* More than PYRAMID_ENTRIES of functions or of paths: fewer parts, then wider columns, the same for both. */
static void test_limit(void **state)
{
	struct columns_row *rows[8];
	uint64_t now = 0, sum = 0;
	struct pyramid p;
	size_t n = 0;

	(void)state;
	for (int i = 0; i < 8; i++)
		rows[i] = columns_row(&columns, 7, 7 + i);
	for (; now < 2000000; now += 20)
		for (int i = 0; i < 8; i++)
			assert_int_equal(columns_go(&columns, rows[i], now, nodes[now / 20 % NODES]), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	for (uint32_t row = 0; row < p.nrows; row++)
		for (uint32_t level = 0; level < p.nlevels; level++)
			n += p.rows[row].levels[PYRAMID_FUNCTIONS][level].n;
	assert_in_range(n, 1, PYRAMID_ENTRIES);
	assert_true(p.parts[PYRAMID_FUNCTIONS] < PYRAMID_PARTS);
	assert_int_equal(p.width_ns % columns.width_ns, 0);
	for (int kind = 0; kind < PYRAMIDS; kind++, sum = 0) {
		for (uint32_t block = 0; block < p.ncolumns; block++)
			sum += block_sum(&p.rows[0].levels[kind][0], block);
		assert_int_equal(sum, p.rows[0].ns);
	}
	pyramid_free(&p);
}

#define DEEP 10000

/*
 * main has nearly all of a column's time; it calls f, which calls itself 10,000 times: too little together for any of
 * them to be kept, in 52 columns. Callers of each walked anew would be 3 * 10^9 steps a level.
 */
static void test_deep(void **state)
{
	struct columns_row *row = columns_row(&columns, 7, 7);
	struct code *f = code_of("f", 10);
	uint32_t deep[DEEP];
	struct pyramid p;

	(void)state;
	flame_free(&flame);
	visit(code_of("main", 1), true, NULL);
	for (int i = 0; i < DEEP; i++)
		visit(f, true, &deep[i]);
	for (int i = 0; i < DEEP; i++)
		visit(f, false, NULL);
	visit(code_of("main", 1), false, NULL);
	assert_int_equal(flame_make(&flame, &tree), 0);
	assert_true(flame.nshown > DEEP);
	for (uint64_t column = 0; column < 52; column++) {
		uint64_t now = column << 20;

		for (int i = 0; i < DEEP; i++)
			assert_int_equal(columns_go(&columns, row, now + i, deep[i]), 0);
		assert_int_equal(columns_go(&columns, row, now + DEEP, nodes[0]), 0);
	}
	assert_int_equal(columns_go(&columns, row, 52 << 20, 0), 0);
	assert_int_equal(columns_finish(&columns), 0);
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	for (uint32_t level = 0; level < p.nlevels; level++) {
		const struct pyramid_level *l = &p.rows[0].levels[PYRAMID_PATHS][level];
		uint64_t own = 0, cut = 0;

		for (size_t i = 0; i < l->n; i++) {
			assert_true(l->entries[i].of == 1 || l->entries[i].of == ~1); /* main, and what is below it */
			*(l->entries[i].of == 1 ? &own : &cut) += l->entries[i].ns;
		}
		assert_int_equal(cut, 52 * DEEP);
		assert_int_equal(own, (52 << 20) - 52 * DEEP);
	}
	pyramid_free(&p);
}

/* No function ran for any time. */
static void test_nothing(void **state)
{
	struct pyramid p;

	(void)state;
	assert_int_equal(pyramid_make(&p, &columns, &flame), 0);
	assert_int_equal(p.nrows, 0);
	assert_int_equal(p.ncolumns, 0);
	pyramid_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sums, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_equal_threads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_small_ones, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
