/* SPDX-License-Identifier: MIT */
/* test_copies.c - which form of an instruction most copies have, and where they differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "code/copies.h"

enum { PLAIN = 1, ABLE, ABLE_INT, ABLE_STR };

static struct process process = { .ables = true, .able = { [ABLE] = true } };
static struct instr instrs[3];
static struct code code;

static int begin(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		instrs[i] = (struct instr){ .offset = 2 * i, .base = i ? ABLE : PLAIN, .adaptive = i ? ABLE : PLAIN };
	code = (struct code){ .final = true, .process = &process, .instrs = instrs, .ninstrs = 3 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	copies_clear(&code);
	return 0;
}

static void set(uint32_t number, uint32_t i, uint8_t form)
{
	struct copy *copy = copies_get(&code, number);

	assert_non_null(copy);
	copies_set(&code, copy, i, form);
}

static void test_without_copies(void **state)
{
	(void)state;
	assert_int_equal(copies_differ(&code, 0), 3);
}

static void test_a_copy_begins_base(void **state)
{
	struct copy_state s;

	(void)state;
	s = copies_state(&code, copies_get(&code, 7));
	assert_int_equal(s.specialized, 0);
	assert_int_equal(s.base, 2);
	assert_int_equal(code.ncopies, 1);
	copies_get(&code, 7);
	assert_int_equal(code.ncopies, 1);
}

/* What is specialised counts, however many copies stayed base; among forms the majority. */
static void test_the_form_that_most_have(void **state)
{
	(void)state;
	copies_get(&code, 0);
	set(1, 1, ABLE_INT);
	assert_int_equal(instrs[1].adaptive, ABLE_INT);
	set(2, 1, ABLE_STR);
	assert_int_equal(instrs[1].adaptive, ABLE_INT);
	set(3, 1, ABLE_STR);
	assert_int_equal(instrs[1].adaptive, ABLE_STR);
	assert_int_equal(copies_having(&code, 1, ABLE), 1);
	assert_int_equal(copies_having(&code, 1, ABLE_STR), 2);
}

static void test_where_copies_differ(void **state)
{
	(void)state;
	set(0, 2, ABLE_INT);
	assert_int_equal(copies_differ(&code, 0), 3);
	set(1, 2, ABLE_INT);
	assert_int_equal(copies_differ(&code, 0), 3);
	set(1, 1, ABLE_INT);
	assert_int_equal(copies_differ(&code, 0), 1);
	assert_int_equal(copies_differ(&code, 2), 3);
	assert_int_equal(copies_state(&code, copies_get(&code, 1)).specialized, 2);
	assert_int_equal(copies_state(&code, copies_get(&code, 0)).base, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_copies, begin, end),
		cmocka_unit_test_setup_teardown(test_a_copy_begins_base, begin, end),
		cmocka_unit_test_setup_teardown(test_the_form_that_most_have, begin, end),
		cmocka_unit_test_setup_teardown(test_where_copies_differ, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
