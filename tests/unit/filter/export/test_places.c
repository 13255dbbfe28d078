/* SPDX-License-Identifier: MIT */
/* test_places.c - a function is one place in all processes, and all that differs is another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "code/codes.h"
#include "export/places.h"

static struct codes codes;
static struct places places;

static int64_t number(int32_t pid, const char *file, const char *qualname, int64_t line)
{
	return places_number(&places, codes_intern(codes_process(&codes, pid), file, qualname, line));
}

static void test_numbers(void **state)
{
	(void)state;
	codes_init(&codes, NULL);
	assert_int_equal(number(7, "m.py", "f", 1), 0);
	assert_int_equal(number(7, "m.py", "g", 1), 1);
	assert_int_equal(number(7, "m.py", "f", 2), 2);
	assert_int_equal(number(7, "n.py", "f", 1), 3);
	assert_int_equal(number(8, "m.py", "f", 1), 0); /* another code object */
	assert_int_equal(number(8, "m.py", "f", 1), 0);
	assert_int_equal(number(8, "m.py", "h", 1), 4);
	assert_int_equal(places.n, 5);
	assert_int_equal(places.codes[0]->process->pid, 7);
	places_free(&places);
	assert_int_equal(places.n, 0);
	codes_free(&codes);
}

/* A span and a function of one name are two. */
static void test_labels(void **state)
{
	struct code span = { .file = "m.py", .qualname = "f", .firstlineno = 1, .label = true };
	struct code function = { .file = "m.py", .qualname = "f", .firstlineno = 1 };

	(void)state;
	assert_int_equal(places_number(&places, &span), 0);
	assert_int_equal(places_number(&places, &function), 1);
	assert_int_equal(places_number(&places, &span), 0);
	places_free(&places);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers), cmocka_unit_test(test_labels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
