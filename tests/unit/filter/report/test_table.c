/* SPDX-License-Identifier: MIT */
/* test_table.c - one notation a column, columns for wide terminals, and what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "report/table.h"

static const struct table_column columns[] = {
	{ "share", COLUMN_SHARE, 0 },
	{ "wall", COLUMN_SPAN, 0 },
	{ "calls", COLUMN_COUNT, 0 },
	{ "p99 cycles", COLUMN_COUNT, 110 },
};
static const struct paint plain = { "", "", "", "" };
static const struct code code = { .file = (char *)"/src/app.py",
				  .qualname = (char *)"a_function_of_forty_letters_at_the_least",
				  .process = &(const struct process){ 0 } };

static char *written(unsigned width, double calls)
{
	const struct table t = { columns, 4, "function" };
	struct table_row rows[] = {
		{ .of = { 0.5, 1500, calls, 7 }, .name = { .code = &code, .line = 3, .offset = -1 } },
		{ .of = { NAN, 999, 1234, NAN }, .name = { .text = (char *)"12 more" } },
	};
	char *text;
	size_t size;
	struct report r = { .f = open_memstream(&text, &size), .c = &plain, .width = width };

	assert_int_equal(table_write(&r, &t, rows, 2), 0);
	fclose(r.f);
	return text;
}

static const struct {
	unsigned width;
	double calls;
	const char *text;
} cases[] = {
	{ 80, 999999,
	  " share    wall  calls  function\n"
	  " 50.0% 1.50 us 999999  a_function_of_forty_letters_at_the_least, app.py:3\n"
	  "     -  999 ns   1234  12 more\n" },
	{ 80, 1e6,
	  " share    wall  calls  function\n"
	  " 50.0% 1.50 us  1.00M  a_function_of_forty_letters_at_the_least, app.py:3\n"
	  "     -  999 ns  1.23k  12 more\n" },
	{ 110, 5,
	  " share    wall  calls p99 cycles  function\n"
	  " 50.0% 1.50 us      5          7  a_function_of_forty_letters_at_the_least, app.py:3\n"
	  "     -  999 ns   1234          -  12 more\n" },
	{ 60, 5,
	  " share    wall  calls  function\n"
	  " 50.0% 1.50 us      5  a_function_o...at_the_least, app.py:3\n"
	  "     -  999 ns   1234  12 more\n" },
};

static void test_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = written(cases[i].width, cases[i].calls);

		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_written) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
