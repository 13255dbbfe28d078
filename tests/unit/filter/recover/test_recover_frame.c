/* SPDX-License-Identifier: MIT */
/* test_recover_frame.c - where a frame may be, and what decides it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../code/small_code.h"
#include "recover/recover_frame.h"

static const struct code_row rows[] = {
	/* both ways of the first branch come to a LOAD, and to one STORE */
	{ RESUME, 0 }, { POP_JUMP_IF_TRUE, 4 }, { LOAD, 0 },  { JUMP_BACKWARD, 5 }, { LOAD, 0 },
	{ STORE, 0 },  { RETURN_VALUE, 0 },	{ CACHE, 0 },
};

static struct {
	struct code code;
	struct pool pool;
	struct dispatch *dispatch;
	struct undecided undecided;
	struct recover_frame frame;
} the;

static int setup(void **state)
{
	(void)state;
	memset(&the, 0, sizeof(the));
	the.dispatch = make_dispatch();
	fill_code(&the.pool, &the.code, rows);
	the.frame = (struct recover_frame){
		.code = &the.code, .walk = walk_new(&the.code, the.dispatch), .step = UNDECIDED_NONE, .side = SIDE_BOTH
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	undecided_free(&the.undecided);
	free(the.frame.walk);
	pool_free(&the.pool);
	free(the.dispatch);
	return 0;
}

static unsigned reach(uint8_t base, struct undecided_place *places)
{
	return recover_frame_reach(&the.frame, base, places);
}

static void branch(int from, int to)
{
	recover_frame_branch(&the.frame, &the.undecided, &(struct sample){ .offset = 2 * from, .target = 2 * to });
}

static void test_places_of_offsets(void **state)
{
	(void)state;
	assert_int_equal(recover_frame_place(&the.frame, 8), 4);
	assert_int_equal(recover_frame_place(&the.frame, 9), 4);
	assert_int_equal(recover_frame_place(&the.frame, 14), WALK_NOWHERE);
	recover_frame_put(&the.frame, &the.undecided, WALK_NOWHERE);
	assert_int_equal(the.frame.n, 0);
}

/* Both sides stay open until a marker says which; what arrives is at its place, not behind it. */
static void test_both_ways_and_one(void **state)
{
	struct undecided_place places[UNDECIDED_PLACES];

	(void)state;
	recover_frame_put(&the.frame, &the.undecided, 1);
	assert_int_equal(reach(LOAD, places), 2);
	assert_int_equal(places[0].place, 2);
	assert_int_equal(places[1].place, 4);
	assert_int_equal(reach(STORE, places), 0);
	branch(1, 4);
	assert_int_equal(reach(LOAD, places), 1);
	assert_int_equal(places[0].place, 4);
	recover_frame_put(&the.frame, &the.undecided, 2);
	the.frame.arrives = true;
	assert_int_equal(reach(LOAD, places), 1);
	assert_int_equal(places[0].place, 2);
}

/* Two ways meet: which of them it was cannot be told. A branch that is told late settles where it led to. */
static void test_ways_meet(void **state)
{
	struct undecided_place places[UNDECIDED_PLACES];

	(void)state;
	recover_frame_put(&the.frame, &the.undecided, 1);
	the.frame.n = reach(LOAD, the.frame.at);
	assert_int_equal(the.frame.n, 2);
	assert_true(recover_frame_next(&the.frame, &the.undecided));
	assert_int_equal(the.frame.at[0].place, 3);
	assert_int_equal(the.frame.at[1].place, 5);
	the.frame.at[0].place = 4; /* at both LOAD and what is before the STORE: one STORE */
	the.frame.at[1].place = 3;
	assert_int_equal(reach(STORE, places), 1);
	assert_int_equal(places[0].from, UNDECIDED_MERGED);
	recover_frame_put(&the.frame, &the.undecided, 1);
	the.frame.n = reach(LOAD, the.frame.at);
	branch(1, 4);
	assert_int_equal(the.frame.n, 1);
	assert_int_equal(the.frame.at[0].place, 4);
}

static void test_behind_the_last_there_is_nothing(void **state)
{
	(void)state;
	recover_frame_put(&the.frame, &the.undecided, 6);
	assert_false(recover_frame_next(&the.frame, &the.undecided));
	assert_int_equal(the.frame.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places_of_offsets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_both_ways_and_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ways_meet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_behind_the_last_there_is_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
