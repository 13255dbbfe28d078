/* SPDX-License-Identifier: MIT */
/* test_proto.c - bytes as in the encoding's own documentation, and lengths of about a byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/proto.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const struct {
	uint64_t n;
	const char *bytes;
	size_t length;
} varints[] = {
	{ 0, "\0", 1 },
	{ 1, "\x01", 1 },
	{ 127, "\x7f", 1 },
	{ 128, "\x80\x01", 2 },
	{ 150, "\x96\x01", 2 }, /* the documentation's example */
	{ 16384, "\x80\x80\x01", 3 },
	{ (uint64_t)-2, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10 }, /* likewise */
};

static void test_varints(void **state)
{
	char got[16];

	(void)state;
	for (size_t i = 0; i < COUNT(varints); i++) {
		assert_int_equal(proto_varint(got, varints[i].n) - got, varints[i].length);
		assert_memory_equal(got, varints[i].bytes, varints[i].length);
	}
}

/* As the other way, of any length. */
static void test_small(void **state)
{
	char got[32], wanted[32];

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++)
		for (int more = -1; more < 2; more++) {
			uint64_t n = (1ull << bit) + more;
			char *end = proto_small(got, 8, n), *wanted_end = proto_number(wanted, 8, n);

			assert_int_equal(end - got, wanted_end - wanted);
			assert_memory_equal(got, wanted, end - got);
		}
}

static void test_fields(void **state)
{
	char got[64], *body;

	(void)state;
	assert_int_equal(proto_number(got, 1, 150) - got, 3);
	assert_memory_equal(got, "\x08\x96\x01", 3);
	assert_int_equal(proto_string(got, 2, "testing", 7) - got, 9);
	assert_memory_equal(got, "\x12\x07testing", 9);
	body = proto_open(got, 3);
	assert_int_equal(proto_close(body, proto_number(body, 1, 150)) - got, 5);
	assert_memory_equal(got, "\x1a\x03\x08\x96\x01", 5);
	assert_int_equal(proto_number(got, 58, 6) - got, 3);
	assert_memory_equal(got, "\xd0\x03\x06", 3);
}

/* The content moves when its length needs more than the byte that was kept. */
static void test_lengths(void **state)
{
	static const size_t lengths[] = { 0, 1, 127, 128, 129, 16383, 16384, 70000 };
	static char got[70100];
	char length[10];

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		size_t n = lengths[i], bytes = proto_varint(length, n) - length;
		char *body = proto_open(got, 1);

		memset(body, 'x', n);
		assert_int_equal(proto_close(body, body + n) - got, 1 + bytes + n);
		assert_memory_equal(got + 1, length, bytes);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(got[1 + bytes + k], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
