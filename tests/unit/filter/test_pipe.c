// SPDX-License-Identifier: MIT
/* test_pipe.c - what goes in comes out, in order; and either side may end it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdlib.h>
#include <cmocka.h>

#include "pipe.h"

struct writing {
	struct pipe *pipe;
	uint64_t most, wrote;
	pthread_barrier_t read;
};

static void *write_all(void *to)
{
	struct writing *w = to;
	bool more = true;

	while (w->wrote < w->most && more) {
		*pipe_room(w->pipe) = (struct sample){ .count = w->wrote++ };
		more = pipe_put(w->pipe);
	}
	pipe_end(w->pipe);
	return NULL;
}

static void test_order(void **state)
{
	static const uint64_t counts[] = {
		0, 1, PIPE_SAMPLES - 1, PIPE_SAMPLES, PIPE_SAMPLES + 1, 10 * PIPE_BLOCKS * PIPE_SAMPLES
	};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct writing w = { .pipe = calloc(1, sizeof(*w.pipe)), .most = counts[i] };
		struct pipe_block *b;
		pthread_t thread;
		uint64_t read = 0;

		assert_int_equal(pipe_init(w.pipe), 0);
		assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
		while ((b = pipe_get(w.pipe)))
			for (uint32_t k = 0; k < b->n; k++)
				assert_int_equal(b->samples[k].count, read++);
		assert_int_equal(read, counts[i]);
		pthread_join(thread, NULL);
		pipe_free(w.pipe);
		free(w.pipe);
	}
}

/* One block, and the end only when that was read. */
static void *write_one(void *to)
{
	struct writing *w = to;

	while (w->wrote++ < PIPE_SAMPLES)
		pipe_put(w->pipe);
	pthread_barrier_wait(&w->read);
	pipe_end(w->pipe);
	return NULL;
}

/* The writer of a single block wakes nobody. */
static void test_looks(void **state)
{
	struct writing w = { .pipe = calloc(1, sizeof(*w.pipe)) };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_barrier_init(&w.read, NULL, 2), 0);
	assert_int_equal(pipe_init(w.pipe), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_one, &w), 0);
	assert_int_equal(pipe_get(w.pipe)->n, PIPE_SAMPLES);
	pthread_barrier_wait(&w.read);
	while (pipe_get(w.pipe))
		;
	pthread_join(thread, NULL);
	pipe_free(w.pipe);
	pthread_barrier_destroy(&w.read);
	free(w.pipe);
}

static void test_closed(void **state)
{
	struct writing w = { .pipe = calloc(1, sizeof(*w.pipe)), .most = UINT64_MAX };
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe_init(w.pipe), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_all, &w), 0);
	assert_non_null(pipe_get(w.pipe));
	pipe_close(w.pipe);
	pthread_join(thread, NULL); /* the writer comes to an end */
	pipe_free(w.pipe);
	free(w.pipe);
}

/* True: more is wanted. */
static bool write_block(struct pipe *p)
{
	bool more = true;

	for (int i = 0; i < PIPE_SAMPLES; i++)
		more = pipe_put(p);
	return more;
}

/* One is written and one is read while a third is passed on: no others are touched, however many follow. */
static void test_few_are_touched(void **state)
{
	struct pipe *p = calloc(1, sizeof(*p));

	(void)state;
	assert_int_equal(pipe_init(p), 0);
	for (int i = 0; i < 10 * PIPE_BLOCKS; i++) {
		pipe_room(p)->count = i;
		assert_true(write_block(p));
		struct pipe_block *b = pipe_get(p);

		assert_int_equal(b->samples[0].count, i);
		assert_true(b - p->blocks < 3);
	}
	pipe_free(p);
	free(p);
}

/* A writer that does not stop when it was told to has room all the same. */
static void test_goes_on_after_the_end(void **state)
{
	struct pipe *p = calloc(1, sizeof(*p));

	(void)state;
	assert_int_equal(pipe_init(p), 0);
	for (int i = 0; i < PIPE_BLOCKS - 2; i++)
		assert_true(write_block(p));
	pipe_close(p);
	for (int i = 0; i < 3 * PIPE_BLOCKS; i++) {
		assert_false(write_block(p));
		assert_in_range(p->writing - p->blocks, 0, PIPE_BLOCKS - 1);
		assert_int_equal(p->writing->n, 0);
	}
	pipe_free(p);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_looks),
		cmocka_unit_test(test_closed),
		cmocka_unit_test(test_few_are_touched),
		cmocka_unit_test(test_goes_on_after_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
