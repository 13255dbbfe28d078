/* SPDX-License-Identifier: MIT */
/* test_dispatch.c - addresses to opcodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "small_code.h"

static void test_handlers_are_found(void **state)
{
	struct dispatch *d = make_dispatch();
	uint8_t op = 0;

	(void)state;
	for (int i = 0; i < 256; i++) {
		assert_int_equal(dispatch_at(d, HANDLER(i), &op), op_names[i] ? DISPATCH_OP : DISPATCH_NONE);
		if (op_names[i])
			assert_int_equal(op, i);
		assert_int_equal(dispatch_at(d, HANDLER(i) + 1, &op), DISPATCH_NONE);
	}
	assert_int_equal(dispatch_at(d, AGAIN, &op), DISPATCH_AGAIN);
	assert_int_equal(dispatch_at(d, 0, &op), DISPATCH_NONE);
	assert_int_equal(dispatch_at(d, UINT64_MAX, &op), DISPATCH_NONE);
	free(d);
}

static void test_the_first_of_two_at_one_address_counts(void **state)
{
	struct dispatch *d = make_dispatch();
	uint8_t op;

	(void)state;
	assert_int_equal(dispatch_add(d, HANDLER(LOAD), DISPATCH_OP, STORE), 0);
	assert_int_equal(dispatch_at(d, HANDLER(LOAD), &op), DISPATCH_OP);
	assert_int_equal(op, LOAD);
	free(d);
}

/* Several execs of one process: as many tables as there is room for, and an error, not a circle. */
static void test_too_many_are_refused(void **state)
{
	struct dispatch *d = make_dispatch();
	uint8_t op;
	int n = 0;

	(void)state;
	while (n < 2 * DISPATCH_SLOTS && !dispatch_add(d, 0x100000 + 16 * n, DISPATCH_OP, LOAD))
		n++;
	assert_true(n >= 1000 && n < DISPATCH_SLOTS);
	assert_int_equal(dispatch_at(d, 0x100000, &op), DISPATCH_OP);
	assert_int_equal(dispatch_at(d, 0x7777777, &op), DISPATCH_NONE);
	free(d);
}

static void test_what_follows_is_told_by_the_name(void **state)
{
	static const struct {
		uint8_t op;
		enum flow flow;
	} rows[] = {
		{ LOAD, FLOW_NEXT },
		{ RESUME, FLOW_RESUME },
		{ RETURN_VALUE, FLOW_RETURN },
		{ YIELD_VALUE, FLOW_YIELD },
		{ FOR_ITER, FLOW_FOR },
		{ POP_JUMP_IF_TRUE, FLOW_BRANCH },
		{ JUMP_BACKWARD, FLOW_JUMP },
		{ RETURN_GENERATOR, FLOW_GENERATOR },
		{ COPY_FREE_VARS, FLOW_PROLOGUE },
		{ RAISE_VARARGS, FLOW_RAISE },
		{ INTERPRETER_EXIT, FLOW_NOWHERE },
		{ EXIT_INIT_CHECK, FLOW_CLEANUP },
		{ INSTRUMENTED_LINE, FLOW_PREFIX },
	};
	struct dispatch *d = make_dispatch();

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(d->flow[rows[i].op], rows[i].flow);
	assert_int_equal(d->for_skips, 1);
	free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handlers_are_found),
		cmocka_unit_test(test_the_first_of_two_at_one_address_counts),
		cmocka_unit_test(test_too_many_are_refused),
		cmocka_unit_test(test_what_follows_is_told_by_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
