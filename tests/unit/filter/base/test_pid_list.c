/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pid_list.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_valid(void **state)
{
	static const char *const good[] = { "1", "0", "4711,4712", "^4711", "^1,2,2147483647" };
	static const char *const bad[] = { "",
					   "^",
					   ",",
					   "1,",
					   ",1",
					   "1,,2",
					   "-1",
					   " 1",
					   "1 ",
					   "1;2",
					   "^^1",
					   "1^",
					   "0x1",
					   "+1",
					   "one",
					   "2147483648",
					   "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		assert_true(pid_list_valid(good[i]));
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(pid_list_valid(bad[i]));
}

/* Each process is in a list or in the one with ^, and in one of them only. */
static void test_has(void **state)
{
	static const struct {
		const char *list, *rest;
		int32_t pid;
		bool has;
	} rows[] = {
		{ "4711", "^4711", 4711, true },	{ "4711", "^4711", 471, false },
		{ "4711", "^4711", 47110, false },	{ "1,22,333", "^1,22,333", 22, true },
		{ "1,22,333", "^1,22,333", 333, true }, { "1,22,333", "^1,22,333", 33, false },
		{ "1,22,333", "^1,22,333", -1, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(pid_list_has(rows[i].list, rows[i].pid), rows[i].has);
		assert_int_equal(pid_list_has(rows[i].rest, rows[i].pid), !rows[i].has);
		assert_true(pid_list_has(NULL, rows[i].pid));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
