/* SPDX-License-Identifier: MIT */
/* test_opcodes_view.c - which words are accepted or refused, and which rows are left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/opcodes_view.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct opcode_row rows[] = {
	{ .base = "LOAD_FAST", .specialized = "LOAD_FAST" },
	{ .base = "CALL", .specialized = "CALL_LEN" },
	{ .base = "CALL", .specialized = "CALL" },
	{ .base = "LOAD_CONST", .specialized = "LOAD_CONST" },
	{ .base = "BINARY_OP", .specialized = "BINARY_OP_ADD_INT" },
};

static const struct opcodes table = { .rows = rows, .nrows = COUNT(rows) };

static const struct {
	const char *text, *left; /* indices of the rows that are left */
} views[] = {
	{ "time", "0123" }, /* no more than `most` */
	{ "time:2", "01" },	 { "time:0", "" },	     { "time:99", "01234" },
	{ "time:0.5", "012" }, /* 2.5 rows */
	{ "time:1.0", "01234" }, { "time:LOAD", "03" },	     { "time:^CALL$", "12" },
	{ "time:_INT$", "4" },	 { "time:LOAD|LEN", "013" }, { "time:LOAD|LEN:2", "01" },
	{ "time:4:LOAD", "03" }, { "time:0.6:CALL:1", "1" }, { "time:NOTHING", "" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(views); i++) {
		struct opcodes_view v;
		uint32_t left[COUNT(rows)], n;
		char text[COUNT(rows) + 1] = "";

		assert_true(opcodes_view_parse(&v, views[i].text));
		n = opcodes_view_rows(&v, &table, 4, left);
		for (uint32_t k = 0; k < n; k++)
			text[k] = '0' + left[k];
		if (strcmp(text, views[i].left))
			fail_msg("%s: left '%s', not '%s'", views[i].text, text, views[i].left);
	}
}

static void test_orders(void **state)
{
	static const struct {
		const char *name;
		enum opcodes_order order;
	} orders[] = {
		{ "time", OPCODES_BY_TIME },	  { "tottime", OPCODES_BY_TIME },	{ "calls", OPCODES_BY_COUNT },
		{ "ncalls:3", OPCODES_BY_COUNT }, { "percall:X", OPCODES_BY_PER_CALL }, { "name", OPCODES_BY_NAME },
		{ "stdname", OPCODES_BY_NAME },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct opcodes_view v;

		assert_true(opcodes_view_parse(&v, orders[i].name));
		assert_int_equal(v.order, orders[i].order);
		assert_true(v.wanted);
		assert_int_equal(v.chains, 0);
	}
}

static void test_chains(void **state)
{
	static const struct {
		const char *text;
		unsigned chains;
		enum opcodes_order order;
		const char *limits;
	} views[] = {
		{ "chains:3", 3, OPCODES_BY_TIME, "" },
		{ "chains:8", 8, OPCODES_BY_TIME, "" },
		{ "chains:5:name", 5, OPCODES_BY_NAME, "" },
		{ "chains:4:calls:LOAD:2", 4, OPCODES_BY_COUNT, "LOAD:2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(views); i++) {
		struct opcodes_view v;

		assert_true(opcodes_view_parse(&v, views[i].text));
		assert_true(v.wanted);
		assert_int_equal(v.chains, views[i].chains);
		assert_int_equal(v.order, views[i].order);
		assert_string_equal(v.limits, views[i].limits);
	}
}

static void test_refused(void **state)
{
	char longest[OPCODES_VIEW_SIZE + 16] = "time:";
	static const char *const texts[] = {
		"chains",   "chains:", "chains:2", "chains:9", "chains:33",	   "chains:3:", "chains:3:2",
		"chains:x", "",	       "tim",	   "times",    "cumulative",	   ":3",	"time:3:",
		"time::3",  "time:(",  "time:[",   "time:1.5", "time:99999999999", "3",		"time 3",
	};
	struct opcodes_view v;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		if (opcodes_view_parse(&v, texts[i]) || v.wanted)
			fail_msg("'%s' was taken", texts[i]);
	memset(longest + 5, 'x', OPCODES_VIEW_SIZE - 1);
	assert_true(opcodes_view_parse(&v, longest));
	strcat(longest, "x");
	assert_false(opcodes_view_parse(&v, longest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
