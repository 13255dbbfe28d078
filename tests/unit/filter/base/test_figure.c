/* SPDX-License-Identifier: MIT */
/* test_figure.c - short numbers: their units, their edges, and that they stay short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/figure.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	double n;
	const char *text;
} numbers[] = {
	{ 0, "0" },	      { 1, "1" },
	{ 999999, "999999" }, { 999999.6, "1.00M" },
	{ 1500000, "1.50M" }, { 12345678, "12.3M" },
	{ 999e6, "999M" },    { 999.6e6, "1.00G" },
	{ 5e18, "5.00E" },
};

static const struct {
	double n;
	const char *text;
} threes[] = {
	{ 0, "0" },	    { 999, "999" },	{ 999.6, "1.00k" },  { 1234, "1.23k" },
	{ 12345, "12.3k" }, { 999499, "999k" }, { 999500, "1.00M" }, { 123e9, "123G" },
};

static const struct {
	uint64_t ns;
	const char *text;
} durations[] = {
	{ 0, "0 ns" },
	{ 999, "999 ns" },
	{ 1000, "1.000 us" },
	{ 1500000, "1.500 ms" },
	{ 999999499, "999.999 ms" },
	{ 999999500, "1.000 s" },
	{ 1000000000, "1.000 s" },
	{ 999999000000, "999.999 s" },
};

static void test_brief(void **state)
{
	char text[FIGURE];

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++)
		assert_string_equal(figure_brief(text, numbers[i].n), numbers[i].text);
	for (size_t i = 0; i < COUNT(threes); i++)
		assert_string_equal(figure_three(text, threes[i].n), threes[i].text);
	for (double n = 1; n < 1.8e19; n *= 1.37) {
		assert_true(strlen(figure_brief(text, n)) <= 6);
		assert_true(strlen(figure_three(text, n)) <= 5);
	}
}

static void test_duration(void **state)
{
	char text[FIGURE];

	(void)state;
	for (size_t i = 0; i < COUNT(durations); i++)
		assert_string_equal(figure_duration(text, durations[i].ns), durations[i].text);
	assert_true(strlen(figure_duration(text, UINT64_MAX)) < FIGURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brief),
		cmocka_unit_test(test_duration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
