/* SPDX-License-Identifier: MIT */
/* test_subscribers.c - each callback reaches the sinks that have it, in order, up to the first error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "model/subscribers.h"

static char heard[16];

static int note(struct sink *s, const struct sample *gap)
{
	strcat(heard, s->error);
	return gap ? 0 : -1;
}

static const struct sink_ops hears_gaps = { .gap = note }, hears_both = { .gap = note, .sample = note },
			     hears_nothing = { 0 };

static void test_who_hears_what(void **state)
{
	struct sink c = { .ops = &hears_both, .error = "c" }, b = { .ops = &hears_nothing, .next = &c, .error = "b" };
	struct sink a = { .ops = &hears_gaps, .next = &b, .error = "a" };
	struct subscribers to = subscribers_of(&a, NULL);
	struct sample s = { 0 };

	(void)state;
	assert_int_equal(SUBSCRIBERS_CALL(&to, gap, &s), 0);
	assert_string_equal(heard, "ac");
	assert_int_equal(SUBSCRIBERS_CALL(&to, sample, &s), 0);
	assert_string_equal(heard, "acc");
	assert_null(to.first.enter);
	assert_int_equal(SUBSCRIBERS_CALL(&to, gap, NULL), -1);
	assert_string_equal(heard, "acca");
}

static void test_nobody(void **state)
{
	struct subscribers to = subscribers_of(NULL, NULL);
	struct sample s = { 0 };

	(void)state;
	assert_int_equal(SUBSCRIBERS_CALL(&to, segment, &s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_hears_what),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
