// SPDX-License-Identifier: MIT
/* test_loaded.c - parts of a file: small and large ones, one after another, at any address, and what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "pt/loaded.h"

#define SIZE (3 * LOADED_COPIED)

/* No two places within 64 KB have the same eight bytes. */
static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 0x9e3779b97f4a7c15ull >> 40);
}

static int make(FILE **f)
{
	*f = tmpfile();
	assert_non_null(*f);
	for (uint64_t at = 0; at < SIZE; at++)
		putc(byte_at(at), *f);
	assert_int_equal(fflush(*f), 0);
	return fileno(*f);
}

static void check(struct loaded *l, int fd, uint64_t at, size_t size)
{
	const uint8_t *bytes;

	assert_int_equal(loaded_get(l, fd, at, size, &bytes), 0);
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != byte_at(at + i))
			fail_msg("byte %zu of %zu at %zu", i, size, (size_t)at);
	assert_int_equal(!l->map, size <= LOADED_COPIED);
}

static void test_parts(void **state)
{
	static const struct {
		uint64_t at;
		size_t size;
	} parts[] = {
		{ 0, 1 },	 { 4095, 2 },		{ 4097, 262112 }, { 1, LOADED_COPIED },
		{ 3, SIZE - 3 }, { SIZE - 1, 1 },	{ 8, SIZE - 8 },  { 4096, LOADED_COPIED + 1 },
		{ 40, 262120 },	 { SIZE - 4096, 4096 },
	};
	struct loaded l = { 0 };
	FILE *f;
	int fd = make(&f);

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		check(&l, fd, parts[i].at, parts[i].size);
	loaded_drop(&l);
	assert_null(l.copy);
	check(&l, fd, 7, 77);
	loaded_drop(&l);
	fclose(f);
}

/* A file that was cut since it was looked at ends the reading; nothing is made up for what is not there. */
static void test_cut(void **state)
{
	struct loaded l = { 0 };
	const uint8_t *bytes;
	FILE *f;
	int fd = make(&f);

	(void)state;
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_int_equal(loaded_get(&l, fd, 900, 101, &bytes), -ENODATA);
	assert_int_equal(loaded_get(&l, fd, 1000, 1, &bytes), -ENODATA);
	check(&l, fd, 900, 100);
	assert_int_equal(loaded_get(&l, -1, 0, 1, &bytes), -EBADF);
	assert_int_equal(loaded_get(&l, -1, 0, SIZE, &bytes), -EBADF);
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
