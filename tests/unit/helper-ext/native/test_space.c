/* SPDX-License-Identifier: MIT */
/* test_space.c - mappings that are added take the place of what they cover; our own are where the loader says. */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "native/space.h"

static void test_what_is_covered_goes(void **state)
{
	static const struct {
		uint64_t start, end;
		const char *path;
	} maps[] = {
		{ 10, 20, "a" }, { 40, 50, "c" }, { 20, 30, "b" }, { 60, 70, "d" }, { 25, 45, "e" },
	};
	static const struct {
		uint64_t address;
		const char *path; /* NULL: nothing */
	} expected[] = {
		{ 9, NULL }, { 10, "a" },  { 19, "a" },	 { 20, NULL }, { 24, NULL }, { 25, "e" },
		{ 44, "e" }, { 45, NULL }, { 49, NULL }, { 60, "d" },  { 69, "d" },  { 70, NULL },
	};
	struct space s = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		assert_int_equal(space_map(&s, maps[i].start, maps[i].end, 0, 0, maps[i].path), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct mapping *m = space_find(&s, expected[i].address);

		if (expected[i].path)
			assert_string_equal(m ? m->path : "nothing", expected[i].path);
		else
			assert_null(m);
	}
	space_free(&s);
}

static void test_our_own(void **state)
{
	struct space s = { 0 };
	const struct mapping *m;
	Dl_info info;
	char *path;

	(void)state;
	assert_int_equal(space_read(&s, (uint32_t)getpid()), 0);
	assert_int_not_equal(dladdr((void *)(uintptr_t)getppid, &info), 0);
	m = space_find(&s, (uintptr_t)getppid);
	assert_non_null(m);
	path = realpath(info.dli_fname, NULL);
	assert_string_equal(strrchr(m->path, '/'), strrchr(path, '/'));
	free(path);
	assert_null(space_find(&s, (uintptr_t)&s)); /* no code is on the stack */
	assert_int_equal(space_read(&s, 0x7fffffff), -ENOENT);
	assert_non_null(space_find(&s, (uintptr_t)getppid)); /* as before */
	space_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_covered_goes),
		cmocka_unit_test(test_our_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
