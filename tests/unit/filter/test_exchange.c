/* SPDX-License-Identifier: MIT */
/*
 * test_exchange.c - words that members say come to each other one in the order of time, once, and not before all others
 * have said theirs; one that fails wakes all.
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

/* A thread has a member's words: every 3 ns one, or every 5 ns. */
struct member {
	struct exchange *e;
	unsigned number;
	pthread_t thread;
	int err;
	uint64_t heard, out_of_order, early;
};

static uint64_t ns_of(unsigned number, uint64_t i)
{
	return (i * (number + 3)) * MEMBERS + number;
}

/* Those up to ns of all others. */
static void listen(struct member *m, uint64_t ns)
{
	struct exchange_words to = { 0 };
	uint64_t last = 0;

	m->err = m->err ?: exchange_hear(m->e, m->number, ns, &to);
	for (uint32_t i = 0; i < to.n; i++) {
		m->out_of_order += to.all[i].ns < last || to.all[i].ns > ns;
		m->early += to.all[i].tid == (int32_t)m->number;
		last = to.all[i].ns;
	}
	m->heard += to.n;
	free(to.all);
}

static void *run(void *member)
{
	struct member *m = member;
	struct exchange_words w = { 0 };

	for (uint64_t i = 0; i < WORDS && !m->err; i++) {
		struct exchange_word word = { ns_of(m->number, i), marker_wait(WAIT_FOR_GIL, i % 2), 1,
					      (int32_t)m->number };

		w.n = 0;
		m->err = exchange_add(&w, &word) ?: exchange_say(m->e, m->number, &w, word.ns);
		if (i >= 100)
			listen(m, ns_of(m->number, i - 100));
	}
	w.n = 0;
	m->err = m->err ?: exchange_say(m->e, m->number, &w, UINT64_MAX);
	listen(m, UINT64_MAX);
	free(w.all);
	return NULL;
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
		assert_int_equal(members[i].err, 0);
		assert_int_equal(members[i].heard, (MEMBERS - 1) * WORDS);
		assert_int_equal(members[i].out_of_order, 0);
		assert_int_equal(members[i].early, 0);
	}
	exchange_free(&e);
}

/* What has been heard by all is not kept. */
static void test_memory(void **state)
{
	struct exchange_word word = { .tid = 1 };
	struct exchange_words w = { 0 }, heard = { 0 };
	struct exchange e;

	(void)state;
	assert_int_equal(exchange_init(&e, 2), 0);
	assert_int_equal(exchange_add(&w, &word), 0);
	for (uint64_t i = 1; i < WORDS; i++) {
		w.all[0].ns = i;
		assert_int_equal(exchange_say(&e, 0, &w, i + 1), 0);
		heard.n = 0;
		assert_int_equal(exchange_hear(&e, 1, i, &heard), 0);
		assert_int_equal(heard.n, 1);
	}
	assert_in_range(e.members[0].said.room, 1, 16);
	free(w.all);
	free(heard.all);
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
		struct exchange_words heard = { 0 };
		struct exchange e;

		assert_int_equal(exchange_init(&e, 3), 0);
		for (unsigned k = 0; k < 2; k++) {
			struct exchange_word word = { 7, marker_wait(WAIT_FOR_GIL, cases[i].begins), cases[i].pids[k],
						      (int)k };
			struct exchange_words w = { &word, 1, 1 };

			assert_int_equal(exchange_say(&e, k, &w, UINT64_MAX), 0);
		}
		assert_int_equal(exchange_hear(&e, 2, 8, &heard), cases[i].err);
		free(heard.all);
		exchange_free(&e);
	}
}

static void *wait_for_it(void *member)
{
	listen(member, 5);
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
	assert_int_equal(exchange_say(&e, 0, &(struct exchange_words){ 0 }, 1), -EAGAIN);
	exchange_free(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
