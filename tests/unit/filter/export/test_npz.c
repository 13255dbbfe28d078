/* SPDX-License-Identifier: MIT */
/* test_npz.c - an array's bytes are those of numpy.save() in numpy 2.1; arrays that do not fit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "export/npz.h"

#define LOCAL 30 /* bytes of a member's header in the archive, without its name */

static struct out out;
static struct npz npz;

static int set_up(void **state)
{
	char error[256];

	(void)state;
	npz = (struct npz){ .out = &out };
	return out_open(&out, "/dev/null", error, sizeof(error));
}

static int tear_down(void **state)
{
	(void)state;
	out_discard(&out);
	return 0;
}

/* numpy.save(file, numpy.array([[1, 2]], dtype="u8")) */
static void test_bytes(void **state)
{
	static const uint64_t numbers[] = { 1, 2 };
	const char *at;

	(void)state;
	npz_array(&npz, "a", (struct npz_type){ 'u', 8 }, 1, 2, numbers);
	assert_int_equal(out.err, 0);
	assert_int_equal(npz.at, out.used);
	assert_int_equal(out.used, LOCAL + strlen("a.npy") + 128 + sizeof(numbers));
	at = out.buffer + LOCAL;
	assert_memory_equal(at, "a.npy", 5);
	assert_memory_equal(at + 5, "\x93NUMPY\1\0\x76\0", 10);
	assert_memory_equal(at + 15, "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 2), } ", 60);
	assert_memory_equal(at + 5 + 126, " \n\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 18);
}

static uint32_t number_at(const char *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

/* The directory names a member where its header is, and the end names the directory. */
static void test_directory(void **state)
{
	uint32_t directory, second, end;

	(void)state;
	npz_array(&npz, "a", (struct npz_type){ 'u', 1 }, 1, 0, "x");
	second = npz.at;
	npz_array(&npz, "bc", (struct npz_type){ 'u', 1 }, 0, 0, "");
	directory = npz.at;
	npz_end(&npz);
	end = out.used - 22;
	assert_memory_equal(out.buffer + end, "PK\5\6\0\0\0\0\2\0\2\0", 12);
	assert_int_equal(number_at(out.buffer + end + 12), end - directory);
	assert_int_equal(number_at(out.buffer + end + 16), directory);
	assert_memory_equal(out.buffer + directory, "PK\1\2", 4);
	assert_int_equal(number_at(out.buffer + end - strlen("bc.npy") - 4), second);
}

static void test_too_much(void **state)
{
	(void)state;
	npz_array(&npz, "a", (struct npz_type){ 'u', 8 }, 1u << 16, 1u << 13, NULL);
	assert_int_equal(out.err, -EFBIG);
	assert_int_equal(out.used, 0);
}

static void test_too_many(void **state)
{
	(void)state;
	for (int i = 0; i <= NPZ_MOST; i++) {
		assert_int_equal(out.err, 0);
		npz_array(&npz, "a", (struct npz_type){ 'u', 1 }, 1, 0, "x");
	}
	assert_int_equal(out.err, -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_directory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_much, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
