// SPDX-License-Identifier: MIT
/* test_image.c - a table of handlers that are functions, as a build with tail calls has, is found and refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dispatch.h"

#define USED 240 /* numbers that are opcodes; the rest share `unknown` */

#define HANDLER(n) static int handler_##n(int x) { return x * 3 + 0x##n; }
#define NAME(n)	   handler_##n,
#define ROW(m, h)                                                                             \
	m(h##0) m(h##1) m(h##2) m(h##3) m(h##4) m(h##5) m(h##6) m(h##7)   \
	m(h##8) m(h##9) m(h##a) m(h##b) m(h##c) m(h##d) m(h##e) m(h##f)
#define ALL(m)                                                                                \
	ROW(m, 0) ROW(m, 1) ROW(m, 2) ROW(m, 3) ROW(m, 4) ROW(m, 5) ROW(m, 6) ROW(m, 7)      \
	ROW(m, 8) ROW(m, 9) ROW(m, a) ROW(m, b) ROW(m, c) ROW(m, d) ROW(m, e)

ALL(HANDLER)

static int unknown(int x)
{
	return -x;
}

/* A table in the program's own file, filled by the loader. */
int (*const volatile handler_table[256])(int) = { ALL(NAME)
	unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown,
	unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown };

static void test_functions_are_refused(void **state)
{
	static struct dispatch d;
	bool used[DISPATCH_OPCODES] = { false };
	char error[DISPATCH_ERROR];
	struct image image;

	(void)state;
	memset(used, true, USED);
	assert_true(image_of(&image, (const void *)test_functions_are_refused));
	assert_int_equal(dispatch_find(&d, &image, used, error), -ENOTSUP);
	assert_non_null(strstr(error, "tail calls"));
	for (int op = 0; op < DISPATCH_OPCODES; op++)
		assert_int_equal(d.targets[op], (uintptr_t)handler_table[op]);
}

/* One that does not fit these numbers is none. */
static void test_other_numbers(void **state)
{
	static struct dispatch d;
	bool used[DISPATCH_OPCODES] = { false };
	char error[DISPATCH_ERROR];
	struct image image;

	(void)state;
	memset(used, true, USED - 1);
	assert_true(image_of(&image, (const void *)test_functions_are_refused));
	assert_int_equal(dispatch_find(&d, &image, used, error), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_refused),
		cmocka_unit_test(test_other_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
