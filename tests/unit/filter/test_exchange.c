/* SPDX-License-Identifier: MIT */
/*
 * test_exchange.c - words that members say come to each other one in the order of time, after all have said theirs;
 * one that fails wakes all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>

#include "exchange.h"
#include "shared/marker.h"

#define MEMBERS 4
#define WORDS	20000

/* A thread has a member's words: every 3 ticks one, or every 4, 5 or 6. */
struct member {
	struct exchange *e;
	unsigned number;
	pthread_t thread;
	int err;
	struct exchange_words heard;
};

static uint64_t tick_of(unsigned number, uint64_t i)
{
	return i * (number + 3) * MEMBERS + number;
}

static void *run(void *member)
{
	struct member *m = member;
	struct exchange_words w = { 0 };

	for (uint64_t i = 0; i < WORDS && !m->err; i++)
		m->err = exchange_add(&w,
				      &(struct exchange_word){ tick_of(m->number, i), marker_wait(WAIT_FOR_GIL, i % 2),
							       1, (int32_t)m->number });
	exchange_say(m->e, m->number, &w);
	m->err = m->err ?: exchange_hear(m->e, m->number, &m->heard);
	return NULL;
}

static void assert_in_order(const struct member *m)
{
	uint64_t last = 0;

	assert_int_equal(m->err, 0);
	assert_int_equal(m->heard.n, (MEMBERS - 1) * WORDS);
	for (uint32_t i = 0; i < m->heard.n; i++) {
		assert_true(m->heard.all[i].tick >= last);
		assert_int_not_equal(m->heard.all[i].tid, m->number);
		last = m->heard.all[i].tick;
	}
}

static void test_order(void **state)
{
	struct exchange e;
	struct member members[MEMBERS];

	(void)state;
	assert_int_equal(exchange_init(&e, MEMBERS), 0);
	for (unsigned i = 0; i < MEMBERS; i++) {
		members[i] = (struct member){ .e = &e, .number = i };
		assert_int_equal(pthread_create(&members[i].thread, NULL, run, &members[i]), 0);
	}
	for (unsigned i = 0; i < MEMBERS; i++) {
		pthread_join(members[i].thread, NULL);
		assert_in_order(&members[i]);
		free(members[i].heard.all);
	}
	exchange_free(&e);
}

/* Two words of one time, of two threads: each gets the GIL; or each waits for it. */
static void test_ties(void **state)
{
	static const struct {
		int32_t pids[2];
		bool begins;
		int err;
	} cases[] = { { { 1, 1 }, false, -EAGAIN }, { { 1, 2 }, false, 0 }, { { 1, 1 }, true, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct exchange_words heard = { 0 }, none = { 0 };
		struct exchange e;

		assert_int_equal(exchange_init(&e, 3), 0);
		for (int32_t k = 0; k < 2; k++) {
			struct exchange_words w = { 0 };
			struct exchange_word word = { 7, marker_wait(WAIT_FOR_GIL, cases[i].begins), cases[i].pids[k],
						      k };

			assert_int_equal(exchange_add(&w, &word), 0);
			exchange_say(&e, (unsigned)k, &w);
		}
		exchange_say(&e, 2, &none);
		assert_int_equal(exchange_hear(&e, 2, &heard), cases[i].err);
		free(heard.all);
		exchange_free(&e);
	}
}

static void *wait_for_it(void *member)
{
	struct member *m = member;

	m->err = exchange_hear(m->e, m->number, &m->heard);
	return NULL;
}

static void test_failure(void **state)
{
	struct exchange e;
	struct member m = { .e = &e, .number = 1 };

	(void)state;
	assert_int_equal(exchange_init(&e, 2), 0);
	assert_int_equal(pthread_create(&m.thread, NULL, wait_for_it, &m), 0);
	exchange_fail(&e);
	pthread_join(m.thread, NULL);
	assert_int_equal(m.err, -EAGAIN);
	exchange_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
