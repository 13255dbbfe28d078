/* SPDX-License-Identifier: MIT */
/* test_recover_frames.c - frames begin, end, and become innermost again when their code does something. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../code/small_code.h"
#include "recover/recover_frames.h"

static const struct code_row rows[] = { { RESUME, 0 }, { LOAD, 0 }, { RETURN_VALUE, 0 }, { CACHE, 0 } };

static void test_push_pop_align(void **state)
{
	struct dispatch *d = make_dispatch();
	struct undecided undecided = { 0 };
	struct recover_frames frames = { .dispatch = d, .undecided = &undecided };
	struct code codes[3] = { 0 };
	struct pool pool = { 0 };

	(void)state;
	assert_null(recover_frames_top(&frames));
	for (int i = 0; i < 3; i++)
		fill_code(&pool, &codes[i], rows);
	for (int i = 0; i < 100; i++) {
		struct recover_frame *f = recover_frames_push(&frames, i == 99 ? NULL : &codes[i % 2]);

		assert_non_null(f);
		assert_int_equal(f->n, 0);
		if (f->code)
			recover_frame_put(f, &undecided, 1);
	}
	assert_null(recover_frames_align(&frames, &codes[2], false));
	assert_int_equal(frames.n, 100);
	assert_ptr_equal(recover_frames_align(&frames, &codes[1], false)->code, &codes[1]);
	assert_int_equal(frames.n, 98);
	assert_ptr_equal(recover_frames_align(&frames, &codes[2], true)->code, &codes[2]);
	assert_int_equal(frames.n, 99);
	recover_frames_pop(&frames);
	recover_frames_lose(&frames);
	while (frames.n) {
		assert_int_equal(recover_frames_top(&frames)->n, 0);
		recover_frames_pop(&frames);
	}
	recover_frames_free(&frames);
	for (int i = 0; i < 3; i++)
		free(codes[i].walk);
	pool_free(&pool);
	free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_pop_align),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
