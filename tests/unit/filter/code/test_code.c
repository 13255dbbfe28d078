/* SPDX-License-Identifier: MIT */
/* test_code.c - what a code object and its process know: places, lines, names, an order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "code/code.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_instruction_at_an_offset(void **state)
{
	static const struct {
		int64_t offset;
		uint32_t index;
	} rows[] = { { -1, 4 }, { 0, 4 }, { 1, 4 },  { 2, 0 },	{ 3, 0 },   { 4, 1 },
		     { 7, 1 },	{ 8, 2 }, { 11, 2 }, { 12, 3 }, { 9999, 3 } };
	struct instr instrs[] = { { .offset = 2 }, { .offset = 4 }, { .offset = 8 }, { .offset = 12 } };
	struct code code = { .ninstrs = 4, .instrs = instrs }, none = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(code_index(&code, rows[i].offset), rows[i].index);
	assert_int_equal(code_index(&none, 0), 0);
}

static void test_lines(void **state)
{
	static const struct {
		int32_t lines[3], first, last;
		bool known;
	} rows[] = {
		{ { 7, 5, 9 }, 5, 9, true },
		{ { -1, 5, -1 }, 5, 5, true },
		{ { 1, CODE_LINES_MOST, -1 }, 1, CODE_LINES_MOST, true },
		{ { 1, CODE_LINES_MOST + 1, 2 }, 0, 0, false }, /* a damaged table */
		{ { -1, 0, -1 }, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct instr instrs[3];
		struct code code = { .ninstrs = 3, .instrs = instrs };
		int32_t first, last;

		for (int k = 0; k < 3; k++)
			instrs[k].line = rows[i].lines[k];
		assert_int_equal(code_lines(&code, &first, &last), rows[i].known);
		if (!rows[i].known)
			continue;
		assert_int_equal(first, rows[i].first);
		assert_int_equal(last, rows[i].last);
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(code_name(&(struct code){ .qualname = "f" }), "f");
	assert_string_equal(code_name(&(struct code){ .qualname = "A.m.<locals>.<lambda>" }), "<lambda>");
	assert_string_equal(code_name(&(struct code){ .qualname = "A.m", .name = "as the table says" }),
			    "as the table says");
}

/* Each is before the next one, by one thing alone, which outweighs those behind it. */
static void test_order(void **state)
{
	struct process first = { .pid = 1 }, second = { .pid = 2 };
	struct code codes[] = {
		{ .file = "a", .firstlineno = 9, .qualname = "z", .process = &second, .id = 9 },
		{ .file = "b", .firstlineno = 1, .qualname = "z", .process = &second, .id = 9 },
		{ .file = "b", .firstlineno = 2, .qualname = "a", .process = &second, .id = 9 },
		{ .file = "b", .firstlineno = 2, .qualname = "b", .process = &first, .id = 9 },
		{ .file = "b", .firstlineno = 2, .qualname = "b", .process = &second, .id = 1 },
		{ .file = "b", .firstlineno = 2, .qualname = "b", .process = &second, .id = 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(codes); i++)
		for (size_t k = 0; k < COUNT(codes); k++) {
			int order = code_order(&codes[i], &codes[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
}

static void test_opcodes(void **state)
{
	struct process p = { .opnames = { [3] = "LOAD", [250] = "RESUME" } };

	(void)state;
	assert_string_equal(process_opname(&p, 250), "RESUME");
	assert_string_equal(process_opname(&p, 4), "?");
	assert_int_equal(process_opcode(&p, "RESUME"), 250);
	assert_int_equal(process_opcode(&p, "LOAD_FAST"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instruction_at_an_offset),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_opcodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
