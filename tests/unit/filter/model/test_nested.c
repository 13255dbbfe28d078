/* SPDX-License-Identifier: MIT */
/* test_nested.c - whatever the order in which spans are over, sinks get begins and ends that nest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "model/label_data.h"
#include "model/nested.h"

static struct code a = { .qualname = (char *)"a", .label = true }, b = { .qualname = (char *)"b", .label = true };
static char told[64];

/* "(a" begins, "a)" ends, "(a!" begins with data. */
static int tell(struct sink *s, const struct label_mark *m)
{
	(void)s;
	strcat(told, m->what == LABEL_BEGIN ? "(" : "");
	strcat(told, m->name->qualname);
	strcat(told, m->what == LABEL_END ? ")" : "");
	strcat(told, m->data ? "!" : "");
	return 0;
}

static const struct sink_ops ops = { .label = tell };
static struct sink sink = { .ops = &ops };
static struct subscribers to;

static void check(const char *expected)
{
	assert_string_equal(told, expected);
	told[0] = 0;
}

static int set_up(void **state)
{
	(void)state;
	to = subscribers_of(&sink, NULL);
	told[0] = 0;
	return 0;
}

static void begin(struct nested **list, struct code *name, uint32_t which)
{
	static const struct label_data data;
	struct label_mark m = { .name = name, .what = LABEL_BEGIN, .data = &data };

	assert_int_equal(nested_begin(list, &m, which, &to), 0);
}

static void test_order(void **state)
{
	struct label_mark m = { 0 };
	struct nested *list = NULL;

	(void)state;
	begin(&list, &a, 1);
	begin(&list, &a, 2);
	begin(&list, &b, 1);
	assert_true(nested_over(list, &a, 2));
	assert_false(nested_over(list, &a, 2));
	assert_int_equal(nested_end(&list, &m, &to), 0);
	check("(a!(a!(b!"); /* b is still open inside */
	assert_true(nested_over(list, &b, 1));
	assert_int_equal(nested_end(&list, &m, &to), 0);
	check("b)a)");
	assert_true(nested_over(list, &a, 1));
	assert_int_equal(nested_end(&list, &m, &to), 0);
	check("a)");
	assert_null(list);
}

static void test_suspension(void **state)
{
	struct label_mark m = { 0 };
	struct nested *list = NULL, *held = NULL;

	(void)state;
	begin(&list, &a, 1);
	begin(&list, &b, 1);
	assert_int_equal(nested_suspend(list, &m, &to), 0);
	assert_int_equal(nested_suspend(list, &m, &to), 0); /* once */
	check("(a!(b!b)a)");
	nested_append(&held, list);
	assert_int_equal(nested_resume(&held, &m, &to), 0);
	check("(a(b");
	assert_int_equal(nested_suspend(held, &m, &to), 0);
	assert_true(nested_over(held, &a, 1)); /* elsewhere */
	assert_int_equal(nested_resume(&held, &m, &to), 0);
	check("b)a)(b");
	nested_free(&held);
	assert_null(held);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, set_up),
		cmocka_unit_test_setup(test_suspension, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
