/* SPDX-License-Identifier: MIT */
/* test_tstate.c - the data of a thread in one interpreter are found again, whatever came in between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/tstate.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

struct kept {
	struct tstate tstate;
	size_t number; /* row + 1 */
	char *held;
};

static const struct {
	int32_t pid, tid;
	uint32_t interpreter;
} rows[] = {
	{ 1, 1, 0 },	      { 1, 2, 0 }, { 2, 1, 0 },	  { 1, 1, 1 },
	{ 1, 1, UINT32_MAX }, { 2, 1, 1 }, { -1, -1, 0 }, { 0, 0, 0 },
};

static struct kept *kept_of(struct tstates *s, size_t i)
{
	return tstate_of(s, rows[i].pid, rows[i].tid, rows[i].interpreter, sizeof(struct kept));
}

static void release(struct tstate *tstate)
{
	free(((struct kept *)tstate)->held);
}

static void test_each_is_found(void **state)
{
	struct tstates s = { 0 };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kept *k = kept_of(&s, i);

		assert_int_equal(k->number, 0);
		k->number = i + 1;
		k->held = malloc(1);
		assert_ptr_equal(kept_of(&s, i), k);
	}
	for (size_t i = COUNT(rows); i-- > 0;) {
		assert_int_equal(kept_of(&s, i)->number, i + 1);
		assert_int_equal(kept_of(&s, i)->tstate.pid, rows[i].pid);
		assert_int_equal(kept_of(&s, i)->tstate.tid, rows[i].tid);
		assert_int_equal(kept_of(&s, i)->tstate.interpreter, rows[i].interpreter);
	}
	for (struct tstate *at = s.all; at; at = at->next)
		n++;
	assert_int_equal(n, COUNT(rows));
	tstates_free(&s, release);
	assert_null(s.all);
}

static void test_interpreters_of_a_thread(void **state)
{
	struct tstates s = { 0 };
	uint32_t seen = 0;

	(void)state;
	assert_null(tstate_thread(&s, 1, 1));
	for (uint32_t i = 0; i < 3; i++) {
		tstate_of(&s, 1, 1, i, sizeof(struct tstate));
		tstate_of(&s, 1, 2, i, sizeof(struct tstate));
	}
	for (struct tstate *at = tstate_thread(&s, 1, 1); at; at = at->other) {
		assert_int_equal(at->tid, 1);
		seen |= 1 << at->interpreter;
	}
	assert_int_equal(seen, 7);
	assert_null(tstate_thread(&s, 2, 1));
	tstates_free(&s, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_found),
		cmocka_unit_test(test_interpreters_of_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
