/* SPDX-License-Identifier: MIT */
/* test_parts.c - functions by process, thread and task: their own time, without what callees took or were off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/parts.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct code codes[] = {
	{ .qualname = (char *)"main" },
	{ .qualname = (char *)"task", .coroutine = true },
	{ .qualname = (char *)"inner", .coroutine = true },
	{ .qualname = (char *)"f" },
};

/*
 * One thread: main from 0 to 100 calls task (10 to 90), which awaits inner (20 to 60), which calls f (30 to 40). Off: 4
 * in f, 2 more in inner, 8 in main. Then inner runs alone from 110 to 120. Another process: f from 0 to 7.
 */
static const struct {
	int32_t pid, tid;
	uint32_t depth;
	int code;
	uint64_t start, end, callees, off; /* end 0: it only begins here */
} steps[] = {
	{ 1, 1, 0, 0, 0, 0, 0, 0 },	{ 1, 1, 1, 1, 10, 0, 0, 0 },   { 2, 5, 0, 3, 0, 0, 0, 0 },
	{ 1, 1, 2, 2, 20, 0, 0, 0 },	{ 1, 1, 3, 3, 30, 0, 0, 0 },   { 1, 1, 3, 3, 30, 40, 0, 4 },
	{ 2, 5, 0, 3, 0, 7, 0, 1 },	{ 1, 1, 2, 2, 20, 60, 10, 6 }, { 1, 1, 1, 1, 10, 90, 40, 6 },
	{ 1, 1, 0, 0, 0, 100, 80, 14 }, { 1, 1, 0, 2, 110, 0, 0, 0 },  { 1, 1, 0, 2, 110, 120, 0, 3 },
};

static const struct {
	enum by by;
	const char *expected; /* groups; in each the functions by code: calls*time-off */
} cases[] = {
	{ BY_PROCESS, "1: main 1*20-8 task 1*40-0 inner 2*40-5 f 1*10-4; 2: f 1*7-1; " },
	{ BY_THREAD, "1: main 1*20-8 task 1*40-0 inner 2*40-5 f 1*10-4; 5: f 1*7-1; " },
	{ BY_TASK, "task: task 1*40-0 inner 1*30-2 f 1*10-4; -: main 1*20-8 f 1*7-1; inner: inner 1*10-3; " },
};

static void run(struct parts *p)
{
	for (size_t i = 0; i < COUNT(steps); i++) {
		struct activation a = {
			.pid = steps[i].pid,
			.tid = steps[i].tid,
			.depth = steps[i].depth,
			.code = &codes[steps[i].code],
			.op = OP_PY_START,
			.start_ns = steps[i].start,
			.callee_ns = steps[i].callees,
			.off = { steps[i].off, steps[i].off },
		};

		assert_int_equal(steps[i].end ? parts_leave(p, &a, steps[i].end) : parts_enter(p, &a), 0);
	}
}

static int by_number(const void *left, const void *right)
{
	return (int)(*(struct group *const *)left)->number - (int)(*(struct group *const *)right)->number;
}

static void describe(const struct parts *p, char *text)
{
	const struct group *groups[8];
	size_t n = 0;

	*text = 0;
	for (struct map_slot *s = NULL; (s = map_next(&p->groups, s));)
		groups[n++] = s->value;
	qsort(groups, n, sizeof(*groups), by_number);
	for (size_t i = 0; i < n; i++) {
		if (p->by == BY_TASK)
			sprintf(text + strlen(text), "%s: ", groups[i]->task ? groups[i]->task->qualname : "-");
		else
			sprintf(text + strlen(text), "%d: ", p->by == BY_THREAD ? groups[i]->tid : groups[i]->pid);
		for (size_t c = 0; c < COUNT(codes); c++) {
			const struct part *part = map_get(&groups[i]->functions, (uintptr_t)&codes[c]);

			if (part)
				sprintf(text + strlen(text), "%s %d*%d-%d ", part->code->qualname, (int)part->n,
					(int)part->own_ns, (int)part->own_off.ns);
		}
		strcpy(text + strlen(text) - 1, "; ");
	}
}

static void test_parts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct parts p = { .by = cases[i].by };
		char text[512];

		run(&p);
		describe(&p, text);
		parts_free(&p);
		if (strcmp(text, cases[i].expected))
			print_message("case %zu\n", i);
		assert_string_equal(text, cases[i].expected);
	}
}

/* A loop's first trip is counted, not timed; the same loop is another one in another process. */
static void test_loops(void **state)
{
	struct loop loop = { .code = &codes[3] };
	struct activation here = { .pid = 1, .tid = 1, .code = &codes[3] },
			  there = { .pid = 2, .tid = 5, .code = &codes[3] };
	const struct trip trips[] = {
		{ .loop = &loop, .in = &here },
		{ .loop = &loop,
		  .in = &here,
		  .timed = true,
		  .ns = 9,
		  .cycles = 18,
		  .off = { 4, 3 },
		  .self_ns = 7,
		  .self_off = { 2, 1 } },
		{ .loop = &loop, .in = &there, .timed = true, .ns = 5, .cycles = 10, .self_ns = 5 },
		{ .loop = &loop, .in = &here, .timed = true, .ns = 1, .cycles = 2, .self_ns = 1 },
	};
	struct parts p = { .by = BY_PROCESS };
	const struct part *part;

	(void)state;
	for (size_t i = 0; i < COUNT(trips); i++)
		assert_int_equal(parts_iterate(&p, &trips[i]), 0);
	assert_int_equal(p.groups.used, 2);
	for (struct map_slot *s = NULL; (s = map_next(&p.groups, s));) {
		bool first = ((struct group *)s->value)->pid == 1;

		part = map_get(&((struct group *)s->value)->loops, (uintptr_t)&loop);
		assert_non_null(part);
		assert_int_equal(part->n, first ? 3 : 1);
		assert_int_equal(part->ns, first ? 10 : 5);
		assert_int_equal(part->own_ns, first ? 8 : 5);
		assert_int_equal(part->off.ns, first ? 4 : 0);
		assert_int_equal(part->own_off.waiting_ns, first ? 1 : 0);
		assert_int_equal(part->cycles.n, first ? 2 : 1);
		assert_int_equal(part->cycles.sum, first ? 20 : 10);
	}
	parts_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_parts), cmocka_unit_test(test_loops) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
