/* SPDX-License-Identifier: MIT */
/* test_met.c - threads are met once, taken once, and forgotten with their process. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "switch_write.h"
#include "record/met.h"

/* As met_add() does it where switches can be seen. */
static void meet(struct met **all, uint32_t pid, uint32_t tid)
{
	struct met *m = malloc(sizeof(*m));

	*m = (struct met){ .next = *all, .pid = pid, .tid = tid, .switches = switch_buffer() };
	*all = m;
}

static void test_each_is_taken_once(void **state)
{
	struct met *all = NULL;
	struct switches s;

	(void)state;
	meet(&all, 1, 10);
	meet(&all, 1, 11);
	meet(&all, 2, 10);
	s = met_take(&all, 1, 10);
	assert_non_null(s.page);
	switches_close(&s);
	assert_null(met_take(&all, 1, 10).page);
	assert_null(met_take(&all, 2, 11).page);
	met_drop(&all, 1);
	assert_non_null(all);
	assert_int_equal(all->pid, 2);
	assert_null(all->next);
	met_drop(&all, 0);
	assert_null(all);
}

/* Some time after they have ended. */
static void test_the_ended_are_forgotten(void **state)
{
	struct met *all = NULL;

	(void)state;
	meet(&all, (uint32_t)getpid(), (uint32_t)getpid());
	meet(&all, (uint32_t)getpid(), (uint32_t)getppid()); /* no thread of this process */
	met_forget(&all, 100, 0);
	met_forget(&all, 200, 100);
	assert_int_equal(all->ended_ns, 100);
	met_forget(&all, 300, 101);
	assert_int_equal(all->tid, getpid());
	assert_null(all->next);
	met_forget(&all, 400, 301);
	assert_non_null(all);
	met_drop(&all, 0);
}

static void test_who_cannot_be_seen_is_not_kept(void **state)
{
	struct met *all = NULL;

	(void)state;
	assert_int_equal(met_add(&all, (uint32_t)getpid(), (uint32_t)getppid(), false, 0, false), -ESRCH);
	assert_null(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_is_taken_once),
		cmocka_unit_test(test_the_ended_are_forgotten),
		cmocka_unit_test(test_who_cannot_be_seen_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
