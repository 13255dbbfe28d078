// SPDX-License-Identifier: MIT
/* test_perf_order.c - rounds of records out of order, and when each is delivered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "perf_order.h"

struct log {
	char text[64];
	size_t n;
};

/* A record's type is its letter. */
static int note(void *to, const struct perf_side *s)
{
	struct log *log = to;

	log->text[log->n++] = s->type;
	log->text[log->n] = '\0';
	return s->type == '!' ? -1 : 0;
}

static int add(struct perf_order *o, char letter, uint64_t time)
{
	return perf_order_add(o, &(struct perf_side){ .type = letter, .time = time });
}

static void test_rounds(void **state)
{
	struct log log = { "", 0 };
	struct perf_order o = { .deliver = note, .to = &log };

	(void)state;
	add(&o, 'b', 20);
	add(&o, 'a', 10);
	add(&o, 'c', 20); /* as early as b, and after it */
	add(&o, '0', 0);
	assert_string_equal(log.text, "0");
	perf_order_round(&o);
	assert_string_equal(log.text, "0"); /* another buffer may still have something from before 20 */
	add(&o, 'd', 15);
	add(&o, 'f', 40);
	add(&o, 'e', 30);
	perf_order_round(&o);
	assert_string_equal(log.text, "0adbc");
	perf_order_round(&o);
	assert_string_equal(log.text, "0adbcef");
	perf_order_free(&o);
}

static void test_end(void **state)
{
	struct log log = { "", 0 };
	struct perf_order o = { .deliver = note, .to = &log };

	(void)state;
	for (int i = 0; i < 26; i++)
		add(&o, 'z' - i, 100 - i);
	perf_order_end(&o);
	assert_string_equal(log.text, "abcdefghijklmnopqrstuvwxyz");
	perf_order_free(&o);
}

static void test_error(void **state)
{
	struct log log = { "", 0 };
	struct perf_order o = { .deliver = note, .to = &log };

	(void)state;
	assert_int_equal(add(&o, '!', 0), -1);
	assert_int_equal(add(&o, '!', 1), 0);
	add(&o, 'a', 2);
	assert_int_equal(perf_order_end(&o), -1);
	assert_string_equal(log.text, "!!");
	perf_order_free(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
