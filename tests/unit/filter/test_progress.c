/* SPDX-License-Identifier: MIT */
/* test_progress.c - the progress line: when it is drawn, what it says, and that it is removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "progress.h"

#define LONG_AGO ((struct timespec){ 0 })

/* What is drawn for so many words, or, for none, at the end. */
static const char *written(struct progress *p, uint64_t words)
{
	static char text[256];
	FILE *file = tmpfile();
	int before = dup(STDERR_FILENO);
	size_t n;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	if (words)
		progress_show(p, words);
	else
		progress_end(p);
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

static void test_it_says_how_far_it_is_and_goes(void **state)
{
	struct progress p;

	(void)state;
	progress_init(&p, true, 4000000, NULL);
	p.shown_at = LONG_AGO;
	assert_string_equal(written(&p, 1000000), "\r[ ocular: 1.0 M markers, 25% ]\033[K");
	p.shown_at = LONG_AGO;
	assert_string_equal(written(&p, 4100000), "\r[ ocular: 4.1 M markers ]\033[K");
	assert_string_equal(written(&p, 0), "\r\033[K");
	assert_string_equal(written(&p, 0), "");
}

/* Begun so long ago that the time of the test does not show. */
static void test_time_left(void **state)
{
	struct progress p;
	struct timespec now;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &now);
	progress_init(&p, true, 4000000, "2 of 3");
	p.shown_at = LONG_AGO;
	p.begun_at = (struct timespec){ .tv_sec = now.tv_sec - 1800 };
	assert_string_equal(written(&p, 1000000), "\r[ ocular: 2 of 3: 1.0 M markers, 25%, 90 min left ]\033[K");
	p.shown_at = LONG_AGO;
	p.begun_at = (struct timespec){ .tv_sec = now.tv_sec - 1800 };
	assert_string_equal(written(&p, 3999900), "\r[ ocular: 2 of 3: 4.0 M markers, 100%, 0 s left ]\033[K");
}

static void test_how_much_is_not_always_known(void **state)
{
	struct progress p;

	(void)state;
	progress_init(&p, true, 0, NULL);
	p.shown_at = LONG_AGO;
	assert_string_equal(written(&p, 2500000), "\r[ ocular: 2.5 M markers ]\033[K");
}

static void test_the_clock_is_looked_at_seldom(void **state)
{
	struct progress p;

	(void)state;
	progress_init(&p, true, 0, NULL);
	assert_false(progress_due(&p, 65535));
	assert_true(progress_due(&p, 65536));
	written(&p, 65536);
	assert_false(progress_due(&p, 131071));
	assert_true(progress_due(&p, 131072));
}

static void test_off(void **state)
{
	struct progress p;

	(void)state;
	progress_init(&p, false, 100, NULL);
	assert_false(progress_due(&p, UINT64_MAX - 1));
	assert_string_equal(written(&p, 0), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_says_how_far_it_is_and_goes),
		cmocka_unit_test(test_time_left),
		cmocka_unit_test(test_how_much_is_not_always_known),
		cmocka_unit_test(test_the_clock_is_looked_at_seldom),
		cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
