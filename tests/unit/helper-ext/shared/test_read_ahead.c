/* SPDX-License-Identifier: MIT */
/* test_read_ahead.c - what is got is what is in the file, in any order; in few calls, and little after a leap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "../../numbered_file.h"
#include "shared/read_ahead.h"

#define SIZE 1000000u

/* How many bytes were read for it; 0: they were there. */
static size_t check(struct read_ahead *r, FILE *f, uint64_t at, size_t size)
{
	uint64_t was = r->at;
	size_t n = r->n;
	int err = 0;
	const uint8_t *p = read_ahead_get(r, fileno(f), at, size, &err);

	assert_int_equal(err, 0);
	assert_non_null(p);
	assert_int_equal((uintptr_t)p % 8, 0);
	assert_int_equal(numbered_wrong(p, at, size), size);
	return r->at == was && r->n == n ? 0 : r->n;
}

static void test_anywhere(void **state)
{
	struct read_ahead *r = malloc(sizeof(*r));
	FILE *f = numbered_file(SIZE);

	(void)state;
	assert_non_null(f);
	srand(1);
	read_ahead_init(r);
	for (uint64_t i = 0, at = 0; i < 20000; i++) {
		size_t size = 1 + (size_t)rand() % (i % 100 ? 200 : READ_AHEAD_MOST);

		if (rand() % 5 == 0 || at + size > SIZE)
			at = (uint64_t)rand() % (SIZE - size);
		check(r, f, at, size);
		at += rand() % 2 ? size : 8;
	}
	free(r);
	fclose(f);
}

/* A record of 48 bytes, and a payload: that is passed over each time. Then records only. */
static void test_amounts(void **state)
{
	struct read_ahead *r = malloc(sizeof(*r));
	FILE *f = numbered_file(SIZE);
	unsigned calls = 0;

	(void)state;
	assert_non_null(f);
	read_ahead_init(r);
	for (uint64_t at = 0; at + 100000 < SIZE; at += 100000) {
		assert_int_equal(check(r, f, at, 8), READ_AHEAD_LEAST);
		assert_int_equal(check(r, f, at, 48), 0);
	}
	for (uint64_t at = 0; at + 48 < SIZE; at += 48)
		calls += check(r, f, at, 48) > 0;
	assert_in_range(calls, SIZE / READ_AHEAD_MOST, SIZE / READ_AHEAD_MOST + 8);
	assert_int_equal(check(r, f, 500, 8), READ_AHEAD_LEAST);
	free(r);
	fclose(f);
}

static void test_end(void **state)
{
	struct read_ahead *r = malloc(sizeof(*r));
	FILE *f = numbered_file(SIZE);
	int err = 0;

	(void)state;
	assert_non_null(f);
	read_ahead_init(r);
	check(r, f, SIZE - 8, 8);
	assert_null(read_ahead_get(r, fileno(f), SIZE - 8, 9, &err));
	assert_int_equal(err, -ENODATA);
	assert_null(read_ahead_get(r, fileno(f), SIZE + 8, 1, &err));
	assert_int_equal(err, -ENODATA);
	assert_null(read_ahead_get(r, -1, 0, 1, &err));
	assert_int_equal(err, -EBADF);
	check(r, f, 0, 16);
	assert_int_equal(ftruncate(fileno(f), 0), 0);
	read_ahead_init(r);
	assert_null(read_ahead_get(r, fileno(f), 0, 16, &err));
	assert_int_equal(err, -ENODATA);
	free(r);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_anywhere),
		cmocka_unit_test(test_amounts),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
