/* SPDX-License-Identifier: MIT */
/* test_ordered.c - jobs come back done, once each, in their order, whoever does them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "base/ordered.h"

#define JOBS 500

struct square {
	unsigned int n, square, times;
};

static struct square jobs[ORDERED_THREADS + 1];
static unsigned int busy[ORDERED_THREADS]; /* each its own thread's: a race would be seen by TSan */

/* The later ones are done sooner. */
static void square(void *context, void *job, unsigned int thread)
{
	struct square *s = job;

	assert_ptr_equal(context, jobs);
	assert_in_range(thread, 0, ORDERED_THREADS - 1);
	busy[thread]++;
	usleep(200 * (s->n % 3 ? 0 : 1));
	s->square = s->n * s->n;
	s->times++;
}

static unsigned int take(struct ordered *o, bool wait, unsigned int next)
{
	struct square *s;

	while ((s = ordered_take(o, wait))) {
		assert_int_equal(s->n, next);
		assert_int_equal(s->square, next * next);
		assert_int_equal(s->times, 1);
		next++;
	}
	return next;
}

static void done_by(unsigned int threads)
{
	struct ordered *o = ordered_open(square, jobs, jobs, sizeof(*jobs), threads);
	unsigned int given = 0, taken = 0, total = 0;

	assert_non_null(o);
	for (int i = 0; i < ORDERED_THREADS; i++)
		busy[i] = 0;
	assert_null(ordered_take(o, true));
	while (given < JOBS) {
		struct square *s = ordered_room(o);

		if (!s) {
			assert_int_equal(given - taken, threads + 1);
			taken = take(o, true, taken);
			assert_int_equal(taken, given);
			continue;
		}
		*s = (struct square){ .n = given++ };
		ordered_give(o);
		if (given % 7 == 0)
			taken = take(o, false, taken);
	}
	assert_int_equal(take(o, true, taken), JOBS);
	ordered_close(o);
	for (int i = 0; i < ORDERED_THREADS; i++)
		total += busy[i];
	assert_int_equal(total, JOBS);
}

static void test_order(void **state)
{
	(void)state;
	for (unsigned int threads = 0; threads <= ORDERED_THREADS; threads++)
		done_by(threads);
}

/* What is given is done where it is given, if nobody else does it. */
static void test_nobody_else(void **state)
{
	struct ordered *o = ordered_open(square, jobs, jobs, sizeof(*jobs), 0);
	struct square *s = ordered_room(o);

	(void)state;
	*s = (struct square){ .n = 3 };
	ordered_give(o);
	assert_int_equal(s->square, 9);
	assert_null(ordered_room(o));
	assert_ptr_equal(ordered_take(o, false), s);
	assert_ptr_equal(ordered_room(o), s);
	ordered_close(o);
}

static pthread_barrier_t begun;
static int gate[2];

/* Until somebody writes into the gate. The third is not to begin. */
static void waits(void *context, void *job, unsigned int thread)
{
	char c;

	(void)context, (void)thread;
	if (job != &jobs[2])
		pthread_barrier_wait(&begun);
	assert_int_equal(read(gate[0], &c, 1), 1);
	((struct square *)job)->times++;
}

static void *opens_the_gate(void *unused)
{
	usleep(500000); /* ordered_close() has begun */
	assert_int_equal(write(gate[1], "...", 3), 3);
	return unused;
}

/* What is not done cannot be taken; the end does not wait for what nobody has begun. */
static void test_not_done(void **state)
{
	struct ordered *o = ordered_open(waits, jobs, jobs, sizeof(*jobs), 2);
	unsigned int done = 0;
	pthread_t t;

	(void)state;
	assert_int_equal(pipe(gate), 0);
	pthread_barrier_init(&begun, NULL, 3);
	for (struct square *s; (s = ordered_room(o));) {
		*s = (struct square){ 0 };
		ordered_give(o);
	}
	assert_null(ordered_take(o, false));
	pthread_barrier_wait(&begun); /* of two */
	assert_int_equal(pthread_create(&t, NULL, opens_the_gate, NULL), 0);
	ordered_close(o);
	pthread_join(t, NULL);
	for (int i = 0; i < 3; i++)
		done += jobs[i].times;
	assert_int_equal(done, 2);
	pthread_barrier_destroy(&begun);
	close(gate[0]);
	close(gate[1]);
	ordered_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nobody_else),
		cmocka_unit_test(test_not_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
