/* SPDX-License-Identifier: MIT */
/* test_critical.c - critical paths of made up steps: they add up, whatever is known of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/critical.h"

static struct code a = { .qualname = (char *)"a" }, b = { .qualname = (char *)"b" },
		   sleeps = { .qualname = (char *)"s" };

/* What the path is like, as KIND what ns. */
struct wanted {
	enum critical_kind kind;
	const struct code *what;
	uint64_t ns;
};

static void expect(const struct steps *s, uint64_t step, uint64_t since, uint64_t until, const struct wanted *w,
		   size_t n)
{
	struct critical c = { 0 };
	uint64_t sum = 0;

	assert_int_equal(critical_find(&c, s, step, since, until), 0);
	assert_int_equal(c.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(c.pieces[i].kind, w[i].kind);
		assert_ptr_equal(c.pieces[i].what, w[i].what);
		assert_int_equal(c.pieces[i].ns, w[i].ns);
		sum += c.pieces[i].ns;
	}
	assert_int_equal(sum, until - since);
	critical_free(&c);
}

#define EXPECT(s, step, since, until, ...) \
	expect(s, step, since, until, (const struct wanted[]){ __VA_ARGS__ }, \
	       sizeof((const struct wanted[]){ __VA_ARGS__ }) / sizeof(struct wanted))

/* Task a runs 100 to 110, waits in s until 150, runs from 160 to 200. Task b, which lets it go on, runs 140 to 155. */
static void test_waits(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_TASK, .what = &a, .tid = 1, .begun_ns = 100 });
	steps_add(&s, &(struct step){ .kind = STEP_TASK, .what = &b, .tid = 1, .begun_ns = 140, .where = &sleeps });
	steps_add(&s, &(struct step){ .kind = STEP_TASK,
				      .what = &a,
				      .tid = 1,
				      .begun_ns = 160,
				      .ready_ns = 150,
				      .ready_by = 2,
				      .before = 1,
				      .suspended_ns = 110,
				      .where = &sleeps });
	EXPECT(&s, 3, 100, 200, { CRITICAL_RUNNING, &a, 10 }, { CRITICAL_AWAITING, &sleeps, 30 },
	       { CRITICAL_RUNNING, &b, 10 }, { CRITICAL_READY, &a, 10 }, { CRITICAL_RUNNING, &a, 40 });
	/* Parts of it. */
	EXPECT(&s, 3, 170, 180, { CRITICAL_RUNNING, &a, 10 });
	EXPECT(&s, 3, 145, 165, { CRITICAL_RUNNING, &b, 5 }, { CRITICAL_READY, &a, 10 }, { CRITICAL_RUNNING, &a, 5 });
	/* It began before what is known of it. */
	EXPECT(&s, 3, 90, 165, { CRITICAL_UNKNOWN, NULL, 10 }, { CRITICAL_RUNNING, &a, 10 },
	       { CRITICAL_AWAITING, &sleeps, 30 }, { CRITICAL_RUNNING, &b, 10 }, { CRITICAL_READY, &a, 10 },
	       { CRITICAL_RUNNING, &a, 5 });
	steps_free(&s);
}

/* What nobody lets go on is awaited where the waiter is; what is not known to be ready waits until it runs. */
static void test_nobody(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_TASK, .what = &a, .begun_ns = 100 });
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &b, .begun_ns = 150 });
	steps_add(&s, &(struct step){ .kind = STEP_TASK,
				      .what = &a,
				      .begun_ns = 155,
				      .ready_ns = 152,
				      .ready_by = 2,
				      .before = 1,
				      .suspended_ns = 110,
				      .where = &sleeps });
	steps_add(&s, &(struct step){ .kind = STEP_TASK,
				      .what = &a,
				      .begun_ns = 190,
				      .before = 3,
				      .suspended_ns = 160,
				      .where = &b });
	EXPECT(&s, 4, 110, 200, { CRITICAL_AWAITING, &sleeps, 40 }, { CRITICAL_RUNNING, &b, 2 },
	       { CRITICAL_READY, &a, 3 }, { CRITICAL_RUNNING, &a, 5 }, { CRITICAL_AWAITING, &b, 30 },
	       { CRITICAL_RUNNING, &a, 10 });
	EXPECT(&s, 0, 10, 20, { CRITICAL_UNKNOWN, NULL, 10 });
	steps_free(&s);
}

/* One lets the next go on, from all of whom the first waits; nobody lets the last one go on. */
static void test_long(void **state)
{
	struct steps s = { 0 };
	struct wanted wanted[3000] = { { CRITICAL_AWAITING, &sleeps, 2 } };

	(void)state;
	for (uint64_t n = 1; n < 3000; n++) {
		steps_add(&s, &(struct step){ .kind = STEP_TASK,
					      .what = n % 2 ? &a : &b,
					      .begun_ns = 2 * n + 2,
					      .ready_ns = n > 1 ? 2 * n + 2 : 0,
					      .ready_by = n - 1,
					      .suspended_ns = 1,
					      .where = &sleeps });
		wanted[n] = (struct wanted){ CRITICAL_RUNNING, n % 2 ? &a : &b, 2 };
	}
	expect(&s, 2999, 2, 6002, wanted, 3000);
	steps_free(&s);
}

/* Damaged ones: each of two lets the other go on, and begins before it was ready. */
static void test_circle(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &a, .begun_ns = 150, .ready_ns = 149, .ready_by = 2 });
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &b, .begun_ns = 140, .ready_ns = 999, .ready_by = 1 });
	EXPECT(&s, 1, 100, 160, { CRITICAL_UNKNOWN, NULL, 49 }, { CRITICAL_READY, &a, 1 },
	       { CRITICAL_RUNNING, &a, 10 });
	EXPECT(&s, 2, 100, 160, { CRITICAL_UNKNOWN, NULL, 40 }, { CRITICAL_RUNNING, &b, 20 });
	steps_free(&s);
}

/* Waits in one place, for two coroutines: pieces of their own. */
static void test_by_whom(void **state)
{
	struct steps s = { 0 };
	struct critical c = { 0 };
	static const struct code *const by[] = { NULL, &a, &b };
	size_t n = 0;

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		steps_add(&s, &(struct step){ .kind = STEP_TASK,
					      .what = &a,
					      .tid = 1,
					      .begun_ns = 100 * i + 100,
					      .before = i,
					      .suspended_ns = i ? 100 * i : 0, /* it ran for no time */
					      .where = i ? &sleeps : NULL,
					      .by = by[i] });
	assert_int_equal(critical_find(&c, &s, 3, 100, 300), 0);
	for (size_t i = 0; i < c.n; i++)
		if (c.pieces[i].kind == CRITICAL_AWAITING) {
			assert_ptr_equal(c.pieces[i].what, &sleeps);
			assert_ptr_equal(c.pieces[i].by, by[++n]);
			assert_int_equal(c.pieces[i].ns, 100);
		}
	assert_int_equal(n, 2);
	critical_free(&c);
	steps_free(&s);
}

static void stall(struct steps *s, int32_t tid, enum wait_kind kind, uint64_t from, uint64_t until)
{
	const struct stall one = { .kind = kind, .from_ns = from, .until_ns = until, .where = &sleeps, .by = &b };

	assert_int_equal(stalls_add(&s->stalls, 1, tid, one), 0);
}

/* What the step's own thread waited for, as far as it is in the path. */
static void test_blocked(void **state)
{
	struct steps s = { 0 };
	struct critical c = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &a, .pid = 1, .tid = 1, .begun_ns = 100 });
	stall(&s, 1, WAIT_FOR_LOCK, 90, 95);
	stall(&s, 1, WAIT_FOR_READ, 98, 103);
	stall(&s, 2, WAIT_FOR_READ, 103, 109);
	stall(&s, 1, WAIT_FOR_LOCK, 120, 130);
	stall(&s, 1, WAIT_FOR_GIL, 130, 131);
	stall(&s, 1, WAIT_FOR_LOCK, 150, 170);
	EXPECT(&s, 1, 100, 200, { CRITICAL_BLOCKED, &sleeps, 3 }, { CRITICAL_RUNNING, &a, 17 },
	       { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_BLOCKED, &sleeps, 1 }, { CRITICAL_RUNNING, &a, 19 },
	       { CRITICAL_BLOCKED, &sleeps, 20 }, { CRITICAL_RUNNING, &a, 30 });
	EXPECT(&s, 1, 125, 160, { CRITICAL_BLOCKED, &sleeps, 5 }, { CRITICAL_BLOCKED, &sleeps, 1 },
	       { CRITICAL_RUNNING, &a, 19 }, { CRITICAL_BLOCKED, &sleeps, 10 });
	EXPECT(&s, 1, 104, 110, { CRITICAL_RUNNING, &a, 6 });
	s.stalls.forgotten_ns = 115;
	EXPECT(&s, 1, 110, 122, { CRITICAL_UNKNOWN, NULL, 5 }, { CRITICAL_RUNNING, &a, 5 },
	       { CRITICAL_BLOCKED, &sleeps, 2 });
	assert_int_equal(critical_find(&c, &s, 1, 128, 132), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.pieces[0].wait, WAIT_FOR_LOCK);
	assert_int_equal(c.pieces[1].wait, WAIT_FOR_GIL);
	assert_int_equal(c.pieces[2].wait, 0);
	assert_ptr_equal(c.pieces[0].by, &b);
	critical_free(&c);
	steps_free(&s);
}

static void follow(struct steps *s, int32_t tid, uint64_t from, uint64_t until, uint64_t by, uint64_t done)
{
	const struct stall one = { .kind = WAIT_FOR_LOCK,
				   .from_ns = from,
				   .until_ns = until,
				   .where = &sleeps,
				   .done_ns = done,
				   .done_by = by };

	assert_int_equal(stalls_add(&s->stalls, 1, tid, one), 0);
}

/*
 * Thread 1 hands job 2 to thread 2 at 110, and waits for that from 120 to 165. It runs from 130 to 160, sleeping from
 * 140 to 150, and has its result at 155.
 */
static void plant_job(struct steps *s)
{
	steps_add(s, &(struct step){ .kind = STEP_THREAD, .pid = 1, .tid = 1, .begun_ns = 10 });
	steps_add(s, &(struct step){ .kind = STEP_JOB,
				     .what = &b,
				     .pid = 1,
				     .tid = 2,
				     .begun_ns = 130,
				     .ready_ns = 110,
				     .ready_by = 1 });
	stall(s, 2, WAIT_FOR_SLEEP, 140, 150);
}

static void test_followed(void **state)
{
	struct steps s = { 0 };

	(void)state;
	plant_job(&s);
	stall(&s, 1, WAIT_FOR_LOCK, 100, 105);
	follow(&s, 1, 120, 165, 2, 155);
	stall(&s, 1, WAIT_FOR_GIL, 165, 170);
	EXPECT(&s, 1, 90, 200, { CRITICAL_RUNNING, NULL, 10 }, { CRITICAL_BLOCKED, &sleeps, 5 },
	       { CRITICAL_RUNNING, NULL, 15 }, { CRITICAL_READY, &b, 10 }, { CRITICAL_RUNNING, &b, 10 },
	       { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_RUNNING, &b, 5 }, { CRITICAL_BLOCKED, &sleeps, 10 },
	       { CRITICAL_BLOCKED, &sleeps, 5 }, { CRITICAL_RUNNING, NULL, 30 });
	/* A part of it: the job had begun. */
	EXPECT(&s, 1, 145, 180, { CRITICAL_BLOCKED, &sleeps, 5 }, { CRITICAL_RUNNING, &b, 5 },
	       { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_BLOCKED, &sleeps, 5 }, { CRITICAL_RUNNING, NULL, 10 });
	/* It ends before the job's result is there: by what that ends is not known. */
	EXPECT(&s, 1, 115, 150, { CRITICAL_RUNNING, NULL, 5 }, { CRITICAL_BLOCKED, &sleeps, 30 });
	EXPECT(&s, 1, 115, 155, { CRITICAL_RUNNING, NULL, 5 }, { CRITICAL_BLOCKED, &sleeps, 35 });
	/* Two waits in the time of one step, and the forgotten ones before them. */
	follow(&s, 1, 180, 190, 2, 185);
	s.stalls.forgotten_ns = 118;
	EXPECT(&s, 1, 116, 195, { CRITICAL_UNKNOWN, NULL, 2 }, { CRITICAL_RUNNING, NULL, 2 },
	       { CRITICAL_READY, &b, 10 }, { CRITICAL_RUNNING, &b, 10 }, { CRITICAL_BLOCKED, &sleeps, 10 },
	       { CRITICAL_RUNNING, &b, 5 }, { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_BLOCKED, &sleeps, 5 },
	       { CRITICAL_RUNNING, NULL, 10 }, { CRITICAL_RUNNING, &b, 5 }, { CRITICAL_BLOCKED, &sleeps, 5 },
	       { CRITICAL_RUNNING, NULL, 5 });
	steps_free(&s);
}

/* Nobody is known to have handed the job over: until it began the thread was blocked, as far as anybody knows. */
static void test_unknown_job(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_TASK, .what = &a, .pid = 1, .tid = 1, .begun_ns = 10, .where = &a });
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &b, .pid = 1, .tid = 2, .begun_ns = 130 });
	follow(&s, 1, 120, 165, 2, 155);
	EXPECT(&s, 1, 100, 200, { CRITICAL_RUNNING, &a, 20 }, { CRITICAL_BLOCKED, &sleeps, 10 },
	       { CRITICAL_RUNNING, &b, 25 }, { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_RUNNING, &a, 35 });
	/* The step is not kept any more. */
	follow(&s, 1, 170, 190, 7, 180);
	EXPECT(&s, 1, 170, 200, { CRITICAL_UNKNOWN, NULL, 10 }, { CRITICAL_BLOCKED, &sleeps, 10 },
	       { CRITICAL_RUNNING, &a, 10 });
	steps_free(&s);
}

/* A job's result comes by a task, which has waited for another one. */
static void test_followed_to_tasks(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_THREAD, .pid = 1, .tid = 1, .begun_ns = 10 });
	steps_add(&s, &(struct step){ .kind = STEP_TASK, .what = &a, .pid = 1, .tid = 2, .begun_ns = 110 });
	steps_add(&s, &(struct step){ .kind = STEP_TASK,
				      .what = &a,
				      .pid = 1,
				      .tid = 2,
				      .begun_ns = 150,
				      .ready_ns = 145,
				      .before = 2,
				      .suspended_ns = 125,
				      .where = &sleeps });
	follow(&s, 1, 120, 165, 3, 155);
	EXPECT(&s, 1, 115, 170, { CRITICAL_RUNNING, NULL, 5 }, { CRITICAL_RUNNING, &a, 5 },
	       { CRITICAL_AWAITING, &sleeps, 20 }, { CRITICAL_READY, &a, 5 }, { CRITICAL_RUNNING, &a, 5 },
	       { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_RUNNING, NULL, 5 });
	steps_free(&s);
}

/* Damaged ones: each of two threads has waited for what the other did meanwhile; and one for itself. */
static void test_mutual(void **state)
{
	struct steps s = { 0 };

	(void)state;
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &a, .pid = 1, .tid = 1, .begun_ns = 100 });
	steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &b, .pid = 1, .tid = 2, .begun_ns = 100 });
	follow(&s, 1, 110, 190, 2, 180);
	follow(&s, 2, 110, 189, 1, 170);
	EXPECT(&s, 1, 100, 200, { CRITICAL_RUNNING, &a, 10 }, { CRITICAL_BLOCKED, &sleeps, 60 },
	       { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_BLOCKED, &sleeps, 10 }, { CRITICAL_RUNNING, &a, 10 });
	follow(&s, 1, 191, 199, 1, 195);
	EXPECT(&s, 1, 190, 200, { CRITICAL_RUNNING, &a, 1 }, { CRITICAL_BLOCKED, &sleeps, 8 },
	       { CRITICAL_RUNNING, &a, 1 });
	steps_free(&s);
}

/* Many, each for the next one: all of them are followed, and only as often as there are. */
static void test_long_wait(void **state)
{
	struct steps s = { 0 };
	struct critical c = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (int32_t n = 1; n <= 3000; n++)
		steps_add(&s, &(struct step){ .kind = STEP_JOB, .what = &a, .pid = 1, .tid = n, .begun_ns = 1 });
	for (int32_t n = 1; n < 3000; n++)
		follow(&s, n, 2, 10000 - 2 * n + 1, n + 1, 10000 - 2 * n);
	assert_int_equal(critical_find(&c, &s, 1, 1, 10000), 0);
	for (size_t i = 0; i < c.n; i++)
		sum += c.pieces[i].ns;
	assert_int_equal(sum, 9999);
	assert_int_equal(c.pieces[1].tid, 3000);
	assert_int_equal(c.pieces[1].ns, 4000);
	critical_free(&c);
	steps_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_waits),
					    cmocka_unit_test(test_by_whom),
					    cmocka_unit_test(test_blocked),
					    cmocka_unit_test(test_nobody),
					    cmocka_unit_test(test_long),
					    cmocka_unit_test(test_circle),
					    cmocka_unit_test(test_followed),
					    cmocka_unit_test(test_unknown_job),
					    cmocka_unit_test(test_followed_to_tasks),
					    cmocka_unit_test(test_mutual),
					    cmocka_unit_test(test_long_wait) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
