/* SPDX-License-Identifier: MIT */
/* test_diff_source.c - which lines are beside each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "diff/diff_source.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A line is a letter. Rows: its number on each side, . for none; = the same, ! not. */
static const struct {
	const char *what, *a, *b, *rows;
} cases[] = {
	{ "one changed", "pXq", "pYq", "00= 11! 22=" }, { "one more", "pq", "pXq", "00= .1! 12=" },
	{ "one less", "pXq", "pq", "00= 1.! 21=" },	{ "more on one side", "pXq", "pYZq", "00= 11! .2! 23=" },
	{ "at the end", "p", "pXY", "00= .1! .2!" },	{ "nothing in common", "XY", "Z", "00! 1.!" },
	{ "moved", "Xpq", "pqX", "0.! 10= 21= .2!" },
};

static struct diff_item item_of(const char *letters)
{
	json_t *lines = json_array();

	for (const char *c = letters; *c; c++)
		json_array_append_new(lines, json_stringn(c, 1));
	return (struct diff_item){ .source = json_pack("{s:o, s:b}", "lines", lines, "whole", 1) };
}

static void write_number(FILE *f, int n)
{
	if (n < 0)
		fputc('.', f);
	else
		fprintf(f, "%d", n);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct diff_item a = item_of(cases[i].a), b = item_of(cases[i].b);
		struct diff_pair pair = { .a = &a, .b = &b };
		size_t n;
		struct diff_row *rows = diff_source_rows(&pair, &n);
		char text[64] = "";
		FILE *f = fmemopen(text, sizeof(text), "w");

		assert_non_null(rows);
		assert_int_equal(diff_source_state(&pair), DIFF_SOURCE_CHANGED);
		for (size_t k = 0; k < n; k++) {
			fputs(k ? " " : "", f);
			write_number(f, rows[k].a);
			write_number(f, rows[k].b);
			fputc(rows[k].same ? '=' : '!', f);
		}
		fclose(f);
		if (strcmp(text, cases[i].rows))
			fail_msg("%s: %s, wanted %s", cases[i].what, text, cases[i].rows);
		free(rows);
		json_decref(a.source);
		json_decref(b.source);
	}
}

/* More than the most of one side: the rest is not read, and that is told. */
static void test_long(void **state)
{
	char many[DIFF_LINES + 101];
	struct diff_item a, b = item_of("p");
	struct diff_pair pair = { .a = &a, .b = &b };
	size_t n;

	(void)state;
	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = 0;
	a = item_of(many);
	free(diff_source_rows(&pair, &n));
	assert_int_equal(n, DIFF_LINES);
	assert_true(diff_source_is_cut(&a));
	assert_false(diff_source_is_cut(&b));
	json_decref(a.source);
	json_decref(b.source);
}

static json_t *of_length(int instructions)
{
	return json_pack("{s:i}", "instructions", instructions);
}

/* Without lines the bytecode's length says that it changed, never that it is the same. */
static void test_states(void **state)
{
	struct diff_item with = item_of("p"), same = item_of("p"), none = { 0 }, other = { 0 };

	(void)state;
	none.specialization = of_length(5);
	other.specialization = of_length(6);
	assert_int_equal(diff_source_state(&(struct diff_pair){ .a = &with, .b = &same }), DIFF_SOURCE_SAME);
	assert_int_equal(diff_source_state(&(struct diff_pair){ .a = &with, .b = &none }), DIFF_SOURCE_SILENT);
	assert_int_equal(diff_source_state(&(struct diff_pair){ .a = &none, .b = &other }), DIFF_SOURCE_UNKNOWN);
	assert_int_equal(diff_source_state(&(struct diff_pair){ .a = &none, .b = &none }), DIFF_SOURCE_SILENT);
	assert_int_equal(diff_source_state(&(struct diff_pair){ .b = &with }), DIFF_SOURCE_SILENT);
	json_decref(with.source);
	json_decref(same.source);
	json_decref(none.specialization);
	json_decref(other.specialization);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_states),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
