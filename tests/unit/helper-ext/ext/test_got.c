/* SPDX-License-Identifier: MIT */
/* test_got.c - calls of this program itself are seen, as long as that is asked for, and of no other object. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "ext/arch/arch.h"
#include "ext/got.h"

static atomic_int seen;

static int seen_nice(int by)
{
	seen++;
	return by + 1000;
}

static const struct got_call calls[] = { { "nice", (void *)seen_nice }, { "no_such_function", (void *)seen_nice } };

static bool is_program(const struct dl_phdr_info *object)
{
	return !*object->dlpi_name;
}

static bool is_library(const struct dl_phdr_info *object)
{
	return *object->dlpi_name;
}

/* Does nothing where the types of relocations are not known. */
static bool is_known(void)
{
	return arch_calls_by(7) || arch_calls_by(1026);
}

static void test_a_thousand_times(void **state)
{
	struct got got = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		seen = 0;
		assert_int_equal(nice(0) >= 1000, false);
		if (!is_known()) {
			assert_int_equal(got_take(&got, calls, 2, is_program), 0);
			skip();
		}
		assert_in_range(got_take(&got, calls, 2, is_program), 1, 2);
		assert_in_range(got_take(&got, calls, 2, is_program), 1, 2); /* there is nothing new */
		assert_int_equal(nice(i), 1000 + i);
		assert_int_equal(seen, 1);
		got_give_back(&got);
		assert_int_equal(got.n, 0);
		assert_int_equal(nice(0) >= 1000, false);
		assert_int_equal(seen, 1);
	}
}

static void test_other_objects(void **state)
{
	struct got got = { 0 };

	(void)state;
	seen = 0;
	got_take(&got, calls, 2, is_library);
	assert_int_equal(nice(0) >= 1000, false);
	assert_int_equal(seen, 0);
	got_give_back(&got);
}

/* What somebody else put there since is not ours to take away. */
static void test_not_ours_any_more(void **state)
{
	struct got got = { 0 };
	void **word;

	(void)state;
	if (!is_known())
		skip();
	assert_in_range(got_take(&got, calls, 2, is_program), 1, 2);
	for (size_t i = 0; i < got.n; i++) {
		word = got.slots[i].at;
		got.slots[i].is = NULL; /* as if it were another's */
		got_give_back(&got);
		assert_ptr_equal(*word, seen_nice);
		break;
	}
	got = (struct got){ 0 };
}

static void *call_all_the_time(void *over)
{
	while (!atomic_load((atomic_bool *)over))
		if (nice(0) > 1001)
			abort();
	return NULL;
}

static void test_while_others_call(void **state)
{
	struct got got = { 0 };
	atomic_bool over = false;
	pthread_t thread;

	(void)state;
	if (!is_known())
		skip();
	pthread_create(&thread, NULL, call_all_the_time, &over);
	for (int i = 0; i < 1000; i++) {
		got_take(&got, calls, 1, is_program);
		got_give_back(&got);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static int check_object(struct dl_phdr_info *object, size_t size, void *address)
{
	(void)size;
	assert_int_equal(got_has(object, (uintptr_t)address), is_program(object));
	assert_false(got_has(object, 0));
	return 0;
}

static void test_addresses(void **state)
{
	(void)state;
	dl_iterate_phdr(check_object, (void *)test_addresses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thousand_times),  cmocka_unit_test(test_other_objects),
		cmocka_unit_test(test_while_others_call), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_not_ours_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
