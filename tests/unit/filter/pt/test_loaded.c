// SPDX-License-Identifier: MIT
/* test_loaded.c - parts of a file, small and large ones one after another, at any address, and what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../numbered_file.h"
#include "pt/loaded.h"

#define SIZE (3u << 20)

static void check(struct loaded *l, FILE *f, uint64_t at, size_t size)
{
	assert_int_equal(loaded_get(l, fileno(f), at, size), 0);
	assert_int_equal(numbered_wrong(l->bytes, at, size), size);
}

static void test_parts(void **state)
{
	static const struct {
		uint64_t at;
		size_t size;
	} parts[] = {
		{ 0, 1 },	 { 4095, 2 },	  { 4097, 262112 }, { 3, SIZE - 3 },
		{ SIZE - 1, 1 }, { 8, SIZE - 8 }, { 40, 262120 },   { SIZE - 4096, 4096 },
	};
	struct loaded l = { 0 };
	FILE *f = numbered_file(SIZE);

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		check(&l, f, parts[i].at, parts[i].size);
	loaded_drop(&l);
	assert_null(l.bytes);
	check(&l, f, 7, 77);
	loaded_drop(&l);
	fclose(f);
}

/* Nothing is made up for what a file that was cut no longer has. */
static void test_cut(void **state)
{
	struct loaded l = { 0 };
	FILE *f = numbered_file(SIZE);

	(void)state;
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 1000), 0);
	assert_int_equal(loaded_get(&l, fileno(f), 900, 101), -ENODATA);
	assert_int_equal(loaded_get(&l, fileno(f), 900, SIZE), -ENODATA);
	assert_int_equal(loaded_get(&l, fileno(f), 1000, 1), -ENODATA);
	check(&l, f, 900, 100);
	assert_int_equal(loaded_get(&l, -1, 0, 1), -EBADF);
	loaded_drop(&l);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
