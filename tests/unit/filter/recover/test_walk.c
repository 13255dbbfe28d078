/* SPDX-License-Identifier: MIT */
/* test_walk.c - which instructions may follow which. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../code/small_code.h"
#include "recover/walk.h"

/*
 * 0 RESUME, 1 FOR_ITER to 6, 2 NOT_TAKEN, 3 POP_JUMP to 5, 4 LOAD, 5 JUMP_BACKWARD to 1, 6 END_FOR,
 * 7 POP_TOP, 8 RETURN
 */
static const struct code_row rows[] = {
	{ RESUME, 0 },	      { FOR_ITER, 6 }, { NOT_TAKEN, 0 }, { POP_JUMP_IF_TRUE, 5 }, { LOAD, 0 },
	{ JUMP_BACKWARD, 1 }, { END_FOR, 0 },  { POP_TOP, 0 },	 { RETURN_VALUE, 0 },	  { CACHE, 0 },
};

static const struct {
	uint32_t from;
	enum side side;
	uint32_t skips;
	unsigned n;
	uint32_t to[4];
} ways[] = {
	{ 0, SIDE_BOTH, 1, 1, { 1 } },
	{ 1, SIDE_BOTH, 1, 4, { 2, 3, 6, 7 } }, /* the body with and without NOT_TAKEN, END_FOR, behind it */
	{ 1, SIDE_BOTH, 2, 4, { 2, 3, 6, 8 } },
	{ 1, SIDE_NEXT, 1, 2, { 2, 3 } },
	{ 1, SIDE_JUMP, 1, 2, { 6, 7 } },
	{ 3, SIDE_BOTH, 1, 2, { 4, 5 } },
	{ 3, SIDE_JUMP, 1, 1, { 5 } },
	{ 5, SIDE_BOTH, 1, 1, { 1 } },
	{ 5, SIDE_NEXT, 1, 1, { 1 } }, /* sides are of branches alone */
	{ 8, SIDE_BOTH, 1, 0, { 0 } },
};

static void test_ways(void **state)
{
	struct dispatch *d = make_dispatch();
	struct code code = { 0 };
	struct pool pool = { 0 };
	struct walk *w;

	(void)state;
	fill_code(&pool, &code, rows);
	w = walk_new(&code, d);
	assert_non_null(w);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		uint32_t to[WALK_WAYS];

		d->for_skips = ways[i].skips;
		assert_int_equal(walk_next(w, ways[i].from, ways[i].side, to), ways[i].n);
		assert_memory_equal(to, ways[i].to, ways[i].n * sizeof(to[0]));
	}
	d->for_skips = 1;
	assert_int_equal(walk_side(w, 1, 2), SIDE_NEXT);
	assert_int_equal(walk_side(w, 1, 7), SIDE_JUMP);
	assert_int_equal(walk_side(w, 3, 5), SIDE_JUMP);
	assert_int_equal(walk_side(w, 3, WALK_NOWHERE), SIDE_BOTH);
	free(w);
	pool_free(&pool);
	free(d);
}

/* Targets that are no instruction, and code that ends in the middle: no way, and no place beyond. */
static void test_damaged_code(void **state)
{
	static const struct code_row cut[] = {
		{ JUMP_BACKWARD, 0 }, { POP_JUMP_IF_TRUE, 100 }, { LOAD, 0 }, { CACHE, 0 }
	};
	struct dispatch *d = make_dispatch();
	struct code code = { 0 };
	struct pool pool = { 0 };
	uint32_t to[WALK_WAYS];
	struct walk *w;

	(void)state;
	fill_code(&pool, &code, cut);
	w = walk_new(&code, d);
	assert_int_equal(walk_next(w, 0, SIDE_BOTH, to), 0);
	assert_int_equal(walk_next(w, 1, SIDE_BOTH, to), 1);
	assert_int_equal(to[0], 2);
	assert_int_equal(walk_next(w, 2, SIDE_BOTH, to), 0);
	free(w);
	pool_free(&pool);
	free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_damaged_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
