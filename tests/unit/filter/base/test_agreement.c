/* SPDX-License-Identifier: MIT */
/* test_agreement.c - all get the least number, however late it is said, and nobody waits for who has left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/agreement.h"

#define MEMBERS 8

struct member {
	pthread_t thread;
	struct agreement *of;
	uint64_t mine, least; /* mine 0: it leaves */
};

static void *say(void *of)
{
	struct member *m = of;

	if (m->mine)
		m->least = agreement_reach(m->of, m->mine);
	else
		agreement_leave(m->of);
	return NULL;
}

static void agree(const uint64_t *numbers, uint64_t least)
{
	struct member all[MEMBERS];
	struct agreement a;

	agreement_init(&a);
	for (int i = 0; i < MEMBERS; i++)
		agreement_enter(&a);
	for (int i = 0; i < MEMBERS; i++) {
		all[i] = (struct member){ .of = &a, .mine = numbers[i] };
		assert_int_equal(pthread_create(&all[i].thread, NULL, say, &all[i]), 0);
	}
	for (int i = 0; i < MEMBERS; i++) {
		pthread_join(all[i].thread, NULL);
		assert_int_equal(all[i].least, numbers[i] ? least : 0);
	}
	agreement_destroy(&a);
}

static void test_least(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		uint64_t numbers[MEMBERS];

		for (int k = 0; k < MEMBERS; k++)
			numbers[k] = 100 + (i * 7 + k * 3) % MEMBERS;
		agree(numbers, 100);
	}
}

static void test_some_leave(void **state)
{
	(void)state;
	agree((uint64_t[MEMBERS]){ 9, 0, 0, 7, 0, UINT64_MAX, 0, 0 }, 7);
	agree((uint64_t[MEMBERS]){ 0 }, 0);
	agree((uint64_t[MEMBERS]){ 0, 0, 5 }, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_least), cmocka_unit_test(test_some_leave) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
