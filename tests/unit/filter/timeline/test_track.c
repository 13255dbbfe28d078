/* SPDX-License-Identifier: MIT */
/* test_track.c - spans and loops of a track, and times that stay distinct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "timeline/track.h"

static const struct code *const f = (const struct code *)0x1000, *const g = (const struct code *)0x2000;

static struct track *new_track(void)
{
	return calloc(1, sizeof(struct track));
}

static struct span *push(struct track *t, const struct code *code, uint64_t ns)
{
	struct activation a = { .code = (struct code *)code, .op = OP_PY_START, .start_ns = ns };

	return track_push(t, &a, track_at(t, ns));
}

static void test_spans(void **state)
{
	struct track *t = new_track();

	(void)state;
	for (int i = 0; i < 100; i++)
		push(t, i % 2 ? g : f, i);
	t->nwritten = 100;
	assert_ptr_equal(track_find(t, g), &t->spans[99]);
	assert_ptr_equal(track_find(t, f), &t->spans[98]);
	assert_int_equal(t->spans[98].start_ns, 98);
	track_take(t, &t->spans[98]);
	assert_int_equal(t->nspans, 99);
	assert_int_equal(t->nwritten, 99);
	assert_ptr_equal(t->spans[98].code, g);
	assert_int_equal(t->spans[97].calls, 1);
	while (t->nspans)
		track_take(t, &t->spans[t->nspans - 1]);
	assert_int_equal(t->nwritten, 0);
	assert_null(track_find(t, f));
	track_free(t);
}

static void test_times(void **state)
{
	struct track *t = new_track();

	(void)state;
	push(t, f, 10);
	assert_false(t->spans[0].tied);
	assert_int_equal(track_at(t, 9), 10);
	assert_true(t->spans[0].tied);
	push(t, g, 20);
	assert_int_equal(track_at(t, 21), 21);
	assert_false(t->spans[1].tied);
	track_free(t);
}

/* A span that begins with its function does not tie it, one inside that span comes with it. */
static void test_spans_inside(void **state)
{
	struct code of = { .qualname = (char *)"f" }, label = { .qualname = (char *)"l", .label = true };
	struct track *t = new_track();

	(void)state;
	push(t, &of, 10);
	assert_int_equal(track_inside(t, 10), 11);
	assert_false(t->spans[0].tied);
	push(t, &label, 11);
	assert_int_equal(track_inside(t, 10), 11);
	assert_false(t->spans[0].tied);
	assert_int_equal(track_inside(t, 15), 15);
	track_take(t, &t->spans[1]);
	assert_int_equal(track_inside(t, 20), 20);
	assert_false(t->spans[0].tied);
	track_free(t);
}

/* Two loops, one in the other, in an activation and one that it calls. */
static void test_loops(void **state)
{
	struct loop outer = { .head = 10 }, inner = { .head = 20 };
	struct track *t = new_track();
	int err;

	(void)state;
	push(t, f, 0);
	assert_true(track_edge(t, &outer, track_at(t, 5), &err) == UINT64_MAX);
	assert_true(track_edge(t, &inner, track_at(t, 6), &err) == UINT64_MAX);
	assert_int_equal(track_edge(t, &inner, track_at(t, 8), &err), 6);
	push(t, f, 9);
	assert_true(track_edge(t, &outer, track_at(t, 12), &err) == UINT64_MAX);
	assert_int_equal(track_edge(t, &outer, track_at(t, 15), &err), 12);
	track_take(t, &t->spans[1]);
	assert_int_equal(track_edge(t, &inner, track_at(t, 18), &err), 8);
	assert_int_equal(track_edge(t, &outer, track_at(t, 20), &err), 5);
	assert_true(track_edge(t, &inner, track_at(t, 22), &err) == UINT64_MAX); /* entered anew */
	push(t, f, 30);
	assert_true(track_edge(t, &outer, track_at(t, 31), &err) == UINT64_MAX);
	track_free(t);
}

/* Where a coarse clock gives all one time, trips still follow each other, and what is in them is. */
static void test_back_edges_are_told_apart(void **state)
{
	struct loop loop = { .head = 10 };
	struct track *t = new_track();
	int err;

	(void)state;
	push(t, f, 7);
	track_edge(t, &loop, track_at(t, 7), &err);
	push(t, g, 7);
	assert_int_equal(t->spans[1].shown, 8);
	track_take(t, &t->spans[1]);
	assert_int_equal(track_edge(t, &loop, track_at(t, 7), &err), 7);
	assert_int_equal(track_at(t, 7), 9);
	track_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_spans_inside),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_back_edges_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
