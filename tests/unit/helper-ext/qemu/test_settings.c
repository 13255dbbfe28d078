/* SPDX-License-Identifier: MIT */
/* test_qemu_settings.c - words that are right are taken, all others are refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "qemu/settings.h"

static void test_words(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_int_equal(s.branch, 0);
	assert_int_equal(s.cyc, 1);
	assert_int_equal(settings_words(&s, " branch  mtc=1 mtc_period=3 psb=0x1000 cyc=0 "), 0);
	assert_int_equal(s.branch, 1);
	assert_int_equal(s.mtc, 1);
	assert_int_equal(s.mtc_period, 3);
	assert_int_equal(s.psb, 4096);
	assert_int_equal(s.cyc, 0);
	assert_int_equal(settings_words(&s, ""), 0);
}

/* A filter of a file becomes addresses where the file is mapped, as far as it is. */
static void test_ranges(void **state)
{
	struct settings s;

	(void)state;
	settings_init(&s);
	assert_true(ranges_hold(&s.filter, 0x1234));
	assert_int_equal(settings_words(&s, "filter=1000-2000 filter=1800/0x1000@/proc/self/exe"), 0);
	assert_int_equal(s.filter.ngiven, 2);
	assert_false(ranges_hold(&s.filter, 0xfff));
	assert_true(ranges_hold(&s.filter, 0x1000));
	assert_true(ranges_hold(&s.filter, 0x1fff));
	assert_false(ranges_hold(&s.filter, 0x2000));
	ranges_map(&s.filter, 0x400000, 0x1000, 0x1000, s.filter.given[1].file);
	ranges_map(&s.filter, 0x500000, 0x1000, 0x2000, "/another");
	assert_false(ranges_hold(&s.filter, 0x4007ff));
	assert_true(ranges_hold(&s.filter, 0x400800));
	assert_true(ranges_hold(&s.filter, 0x400fff));
	assert_false(ranges_hold(&s.filter, 0x401000));
	assert_false(ranges_hold(&s.filter, 0x500000));
	ranges_map(&s.filter, 0x600000, 0x10000, 0x2000, s.filter.given[1].file);
	assert_true(ranges_hold(&s.filter, 0x6007ff));
	assert_false(ranges_hold(&s.filter, 0x600800));
}

static void test_wrong_words(void **state)
{
	static const struct {
		const char *word;
		int err;
	} rows[] = {
		{ "tnt", -ENOENT },
		{ "branches=1", -ENOENT },
		{ "=1", -ENOENT },
		{ "branch=", -EINVAL },
		{ "branch=2", -EINVAL },
		{ "branch=-1", -EINVAL },
		{ "psb=1", -EINVAL },
		{ "mtc_period=16", -EINVAL },
		{ "cyc_thresh=16", -EINVAL },
		{ "branch=1x", -EINVAL },
		{ "defer=65", -EINVAL },
		{ "psb=99999999999999999999", -EINVAL },
		{ "filter=1", -EINVAL },
		{ "filter=20-10", -EINVAL },
		{ "filter=1/0@/proc/self/exe", -EINVAL },
		{ "filter=1/1@/no/such/file", -ENOENT },
		{ "filter=-1-2", -EINVAL },
	};
	struct settings s;

	(void)state;
	settings_init(&s);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(settings_word(&s, rows[i].word, strlen(rows[i].word)), rows[i].err);
	assert_int_equal(s.branch, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_wrong_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
