/* SPDX-License-Identifier: MIT */
/* test_marker.c - the bits of version 2's words, as in docs/marker.md, and that no word has two meanings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void test_bits(void **state)
{
	(void)state;
	assert_int_equal(marker_hello(3, 5), 0x0834f434c0000502);
	assert_int_equal(marker_extension(0x7f, KIND_WAIT, 0x123456789abc), 0xeff4123456789abc);
	assert_int_equal(marker_extension(0, 14, UINT64_MAX), 0xe80effffffffffff);
	assert_int_equal(marker_c_call(1, 0x1ffff, 1, 2), 0xe819ffff80004002);
	assert_int_equal(marker_c_call(0, 1, 0x1ffff, 0x3fff), 0xe8090000ffffffff);
	assert_int_equal(marker_numbered(1, 0xfffff), 0xf0100000000fffff);
	assert_int_equal(marker_short(marker_numbered(0x7f, 1)), 0xff600001);
	assert_int_equal(marker_short(marker_numbered(1, 0xabcde)), 0x036abcde);
}

static void test_fields_come_back(void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 128; seq++) {
		uint64_t e = marker_extension(seq, 14 - seq % 14, seq << 40 | seq),
			 n = marker_numbered(seq, 1 + 8191 * seq);

		assert_int_equal(marker_seq(e), seq);
		assert_int_equal(marker_kind(e), 14 - seq % 14);
		assert_int_equal(marker_payload(e), seq << 40 | seq);
		assert_int_equal(marker_number(n), 1 + 8191 * seq);
		assert_true(marker_is_short(marker_short(n)));
		assert_int_equal(marker_of_short(marker_short(n)), n);
	}
}

static void test_c_calls_come_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 14; i++) {
		uint64_t w = marker_c_call(i, MARKER_C_CODE_MAX >> i, MARKER_C_CODE_MAX - i, MARKER_C_OFFSET_MAX >> i);

		assert_int_equal(marker_kind(w), KIND_C_CALL);
		assert_int_equal(marker_seq(w), i);
		assert_int_equal(marker_c_callee(w), MARKER_C_CODE_MAX >> i);
		assert_int_equal(marker_c_caller(w), MARKER_C_CODE_MAX - i);
		assert_int_equal(marker_c_offset(w), MARKER_C_OFFSET_MAX >> i);
	}
}

static void test_what_is_what(void **state)
{
	static const struct {
		uint64_t word;
		bool extension, numbered, is_short;
	} rows[] = {
		{ 0, 0, 0, 0 },
		{ 0xe801000000000000, 1, 0, 0 },
		{ 0xe800000000000001, 0, 0, 0 }, /* kind 0 */
		{ 0xf000000000000001, 0, 1, 0 },
		{ 0xf000000000000000, 0, 0, 0 }, /* number 0 */
		{ 0xf000000000100001, 0, 0, 0 }, /* more than a number */
		{ 0xf008000000000001, 0, 0, 0 },
		{ 0x01600001, 0, 0, 1 },
		{ 0x01600000, 0, 0, 0 },
		{ 0x01700001, 0, 0, 0 },
		{ 0x00000005, 0, 0, 0 },
		{ 0x101600001, 0, 0, 0 }, /* more than 32 bits */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(marker_is_extension(rows[i].word), rows[i].extension);
		assert_int_equal(marker_is_numbered(rows[i].word), rows[i].numbered);
		assert_int_equal(marker_is_short(rows[i].word), rows[i].is_short);
		assert_false(marker_is_event(rows[i].word));
	}
}

static void test_cpu(void **state)
{
	(void)state;
	assert_int_equal(marker_cpu(true, false, false, 7), 0xe805800000000007);
	assert_int_equal(marker_cpu(false, true, false, 0xfffe), 0xe80540000000fffe);
	assert_int_equal(marker_cpu(false, false, true, 0), 0xe805200000000000);
	for (int bit = 0; bit < 48; bit++)
		assert_int_equal(marker_is_cpu(marker_extension(5, KIND_CPU, 1ull << bit)), bit < 16 || bit > 44);
	assert_false(marker_is_cpu(marker_extension(5, KIND_WAIT, 0)));
	assert_false(marker_is_cpu(marker_numbered(5, 1)));
}

static void test_kinds(void **state)
{
	unsigned all = 0, n = 0;

	(void)state;
#define X(kind, name) \
	assert_in_range(KIND_##name, 1, 14); \
	all |= 1u << KIND_##name; \
	n++;
	OCULAR_KINDS(X)
#undef X
	assert_int_equal(__builtin_popcount(all), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_fields_come_back),
		cmocka_unit_test(test_c_calls_come_back),
		cmocka_unit_test(test_what_is_what),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
