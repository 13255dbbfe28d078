// SPDX-License-Identifier: MIT
/* test_perf_order.c - rounds of records out of order, and when each is delivered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pt/perf_order.h"

/* Instead of the C library's: what it moves is counted. */
static uint64_t moved;

__attribute__((no_sanitize("address"), optimize("no-tree-loop-distribute-patterns"))) void *
memmove(void *to, const void *from, size_t n)
{
	const char *f = from;
	char *t = to;

	moved += n;
	if (t < f)
		for (size_t i = 0; i < n; i++)
			t[i] = f[i];
	else
		while (n--)
			t[n] = f[n];
	return to;
}

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

#define CPUS	 64
#define EACH	 400
#define ALL	 (CPUS * EACH)
#define PER_TIME 4 /* records of one CPU in a row that have one time */

struct heard {
	uint64_t time;
	int32_t cpu, number;
	size_t n;
};

/* By time; of one time as they came: by CPU, and by number within one. */
static int in_order(void *to, const struct perf_side *s)
{
	struct heard *last = to;

	assert_true(s->time >= last->time);
	if (last->n && s->time == last->time) {
		assert_true(s->cpu >= last->cpu);
		assert_true(s->cpu > last->cpu || s->tid > last->number);
	}
	*last = (struct heard){ s->time, s->cpu, s->tid, last->n + 1 };
	return 0;
}

/* One CPU's records after another's: the work may grow with how many they are, not with the square. */
static void test_many_cpus(void **state)
{
	struct heard last = { 0 };
	struct perf_order o = { .deliver = in_order, .to = &last };

	(void)state;
	moved = 0;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < ALL; i++)
			assert_int_equal(
				perf_order_add(&o, &(struct perf_side){ .time = 1 + round * EACH + i % EACH / PER_TIME,
									.cpu = i / EACH,
									.tid = i }),
				0);
		assert_int_equal(perf_order_round(&o), 0);
	}
	assert_int_equal(perf_order_end(&o), 0);
	assert_int_equal(last.n, 3 * ALL);
	assert_true(moved < 20ull * ALL * sizeof(struct perf_side));
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
		cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
