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
#include <errno.h>

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
	struct import *i = imports_find(all, parent, name, 0);

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
	assert_int_equal(imports_find(&all, a, "b", 0)->total_ns, 61);
	assert_int_equal(imports_find(&all, NULL, "nope", 0)->failed, 2);
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
	struct import *a = imports_find(&all, NULL, "a", 0);
	uint64_t ns;

	(void)state;
	assert_null(import_most(a, &ns));
	import_begins(a, &body, 0);
	import_begins(a, &f, 0);
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

/* In the order of time, whichever part is added to which. */
static void test_joined(void **state)
{
	(void)state;
	for (int swapped = 0; swapped < 2; swapped++) {
		struct imports parts[2] = { 0 };
		struct imports *one = &parts[swapped], *two = &parts[!swapped];
		struct import *a = imports_find(one, NULL, "a", 10), *c = imports_find(one, NULL, "c", 30);
		struct import *b = imports_find(two, NULL, "b", 20), *also = imports_find(two, NULL, "a", 25);
		char text[128];

		import_begins(a, &body, 12);
		import_begins(also, &f, 26);
		import_ends(a, 100, false);
		import_ends(also, 50, true);
		import_ends(imports_find(two, also, "inner", 27), 5, false);
		import_ends(imports_find(one, a, "later", 40), 5, false);
		assert_int_equal(import_ran(also, &f, 7), 0);
		import_ends(b, 1, false);
		import_ends(c, 1, false);
		assert_int_equal(imports_join(&parts[0], &parts[1]), 0);
		describe(&parts[0], text);
		assert_string_equal(text, "a*2 .inner*1 .later*1 b*1 c*1 ");
		a = imports_find(&parts[0], NULL, "a", 0);
		assert_int_equal(a->total_ns, 150);
		assert_int_equal(a->failed, 1);
		assert_int_equal(a->self_ns, 7);
		assert_ptr_equal(a->module, &body);
		assert_int_equal(a->begun_ns, 10);
		imports_free(&parts[0]);
		imports_free(&parts[1]);
	}
}

/* Which of them was first is not known. */
static void test_joined_at_one_time(void **state)
{
	struct imports one = { 0 }, two = { 0 };

	(void)state;
	imports_find(&one, NULL, "a", 10);
	imports_find(&two, NULL, "b", 10);
	assert_int_equal(imports_join(&one, &two), -EAGAIN);
	imports_free(&one);
	imports_free(&two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_what_ran),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_joined_at_one_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
