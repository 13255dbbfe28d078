/* SPDX-License-Identifier: MIT */
/* test_imports.c - the tree of imports: its order, its sums, and what took most. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/imports.h"

static struct process process;
static struct code body = { .file = (char *)"a.py", .qualname = (char *)"<module>", .id = 1, .process = &process };
static struct code f = {
	.file = (char *)"a.py", .qualname = (char *)"f", .firstlineno = 3, .id = 2, .process = &process
};
/* The same place in another process. */
static struct process other = { .pid = 2 };
static struct code again = {
	.file = (char *)"a.py", .qualname = (char *)"f", .firstlineno = 3, .id = 2, .process = &other
};

static struct import *add(struct imports *all, struct import *parent, const char *name, uint64_t ns, bool failed)
{
	struct import *i = imports_find(all, parent, name);

	assert_non_null(i);
	import_ends(i, ns, failed);
	return i;
}

/* "a b .c ": a dot for each level. */
static void describe(const struct imports *all, char *text)
{
	*text = 0;
	for (const struct import *i = NULL; (i = imports_next(all, i));) {
		for (uint32_t d = 0; d < i->depth; d++)
			strcat(text, ".");
		sprintf(text + strlen(text), "%s*%d ", i->name, (int)i->n);
	}
}

/* The same name below another parent is another one; again below the same it is the same. */
static void test_tree(void **state)
{
	struct imports all = { 0 };
	struct import *a = add(&all, NULL, "a", 100, false), *b = add(&all, a, "b", 60, false);
	struct imports_total total;
	char text[128];

	(void)state;
	add(&all, b, "c", 10, false);
	add(&all, a, "c", 20, false);
	add(&all, NULL, "nope", 5, true);
	add(&all, a, "b", 1, false);
	add(&all, NULL, "nope", 5, true);
	describe(&all, text);
	assert_string_equal(text, "a*1 .b*2 ..c*1 .c*1 nope*2 ");
	assert_int_equal(imports_find(&all, a, "b")->total_ns, 61);
	assert_int_equal(imports_find(&all, NULL, "nope")->failed, 2);
	total = imports_total(&all);
	assert_int_equal(total.modules, 3);
	assert_int_equal(total.ns, 110);
	imports_free(&all);
}

static void test_none(void **state)
{
	struct imports all = { 0 };

	(void)state;
	assert_null(imports_next(&all, NULL));
	assert_int_equal(imports_total(&all).modules, 0);
	imports_free(&all);
}

static void test_what_ran(void **state)
{
	struct imports all = { 0 };
	struct import *a = imports_find(&all, NULL, "a");
	uint64_t ns;

	(void)state;
	assert_null(import_most(a, &ns));
	import_begins(a, &body);
	import_begins(a, &f);
	assert_ptr_equal(a->module, &body);
	assert_int_equal(import_ran(a, &body, 50), 0);
	assert_int_equal(import_ran(a, &f, 30), 0);
	assert_ptr_equal(import_most(a, &ns), &body);
	assert_int_equal(ns, 50);
	assert_int_equal(import_ran(a, &again, 25), 0);
	assert_string_equal(import_most(a, &ns)->qualname, "f");
	assert_int_equal(ns, 55);
	assert_int_equal(a->self_ns, 105);
	imports_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_what_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
