/* SPDX-License-Identifier: MIT */
/* test_extent.c - where a loop lies, with and without exception handlers behind the function's other code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "code/extent.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void assert_extent(const struct code *code, int64_t head, int64_t body, int64_t handlers, int64_t end)
{
	struct extent e = extent_of(code, head);

	assert_int_equal(e.body, body);
	assert_int_equal(e.handlers, handlers);
	assert_int_equal(e.end, end);
}

/* The last back-edge in the bytecode; a forward jump to the head is none. */
static void test_without_handlers(void **state)
{
	struct instr instrs[] = {
		{ .offset = 0, .target = 10 },	{ .offset = 10, .target = -1 }, { .offset = 20, .target = 10 },
		{ .offset = 30, .target = 10 }, { .offset = 40, .target = 32 }, { .offset = 50, .target = -1 },
	};
	struct code code = { .instrs = instrs, .ninstrs = COUNT(instrs) };

	(void)state;
	assert_extent(&code, 10, 30, INT64_MAX, 30);
	assert_extent(&code, 32, 40, INT64_MAX, 40);
	assert_extent(&code, 50, 50, INT64_MAX, 50);
}

/*
 * for 4..20 { for 8..12 }, for 30..34 { a handler jumps to 32 }; then handlers: of the inner loop, which continues it;
 * with a loop 48..50 in it that only a handler of its own repeats; of the last loop, and one that returns.
 */
static struct instr instrs[] = {
	{ .offset = 0, .target = -1 },
	{ .offset = 4, .target = 24 },
	{ .offset = 8, .target = 16 },
	{ .offset = 12, .target = 8 },
	{ .offset = 20, .target = 4 },
	{ .offset = 24, .target = -1 },
	{ .offset = 30, .target = 36 },
	{ .offset = 32, .target = -1 },
	{ .offset = 34, .target = 30 },
	{ .offset = 36, .target = -1 },
	{ .offset = 40, .target = -1, .handler = true },
	{ .offset = 42, .target = 8 },
	{ .offset = 44, .target = -1, .handler = true },
	{ .offset = 48, .target = -1 },
	{ .offset = 50, .target = -1, .handler = true },
	{ .offset = 52, .target = 48 },
	{ .offset = 54, .target = 32 },
	{ .offset = 56, .target = -1, .handler = true },
	{ .offset = 58, .target = -1 },
};
static const struct code with_handlers = { .instrs = instrs, .ninstrs = COUNT(instrs) };

static void test_handlers(void **state)
{
	(void)state;
	assert_extent(&with_handlers, 4, 20, 40, 42); /* the inner loop's handler is its, too */
	assert_extent(&with_handlers, 8, 12, 40, 42);
	assert_extent(&with_handlers, 30, 34, 40, 54);
	assert_extent(&with_handlers, 48, 52, 50, 52); /* nothing but a handler repeats it */
}

static void test_what_a_loop_has(void **state)
{
	struct extent outer = extent_of(&with_handlers, 4), next = extent_of(&with_handlers, 30);

	(void)state;
	assert_true(extent_has(&outer, 8) && extent_has(&outer, 20));
	assert_false(extent_has(&outer, 24)); /* what is between a body and its handlers is of neither */
	assert_false(extent_has(&outer, 30));
	assert_true(extent_has(&outer, 42));
	assert_false(extent_has(&outer, 48));
	assert_true(extent_has(&next, 48));
	assert_false(extent_has(&next, 58));
}

static void test_unknown_bytecode(void **state)
{
	struct code none = { 0 };
	struct extent e = extent_of(&none, 10);

	(void)state;
	assert_extent(&none, 10, 10, INT64_MAX, 10);
	extent_reach(&e, 30);
	assert_int_equal(e.body, 30);
	extent_reach(&e, 20);
	assert_int_equal(e.body, 30);
	assert_true(extent_has(&e, 20));
	assert_false(extent_has(&e, 32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_handlers),
		cmocka_unit_test(test_handlers),
		cmocka_unit_test(test_what_a_loop_has),
		cmocka_unit_test(test_unknown_bytecode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
