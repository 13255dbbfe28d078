/* SPDX-License-Identifier: MIT */
/* test_huffman.c - codes are complete, none is too long, frequent ones are the shortest, and they are RFC 1951's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/huffman.h"

static void check(const uint32_t *counts, const uint8_t *lengths, unsigned int n, unsigned int longest)
{
	uint32_t space = 0;

	for (unsigned int i = 0; i < n; i++) {
		assert_in_range(lengths[i], counts[i] > 0, longest);
		space += lengths[i] ? 1u << (longest - lengths[i]) : 0;
		for (unsigned int k = 0; k < n; k++)
			assert_false(counts[i] > counts[k] && counts[k] && lengths[i] > lengths[k]);
	}
	assert_int_equal(space, 1u << longest);
}

/* Each as frequent as all before it: without a limit there would be a code of `n` - 1 bits. */
static void test_limit(void **state)
{
	uint32_t counts[HUFFMAN_SYMBOLS] = { 0 };
	uint8_t lengths[HUFFMAN_SYMBOLS];

	(void)state;
	for (unsigned int n = 2; n < 22; n++) {
		counts[n - 2] = 1u << (n - 2);
		counts[n - 1] = 1u << (n - 2);
		huffman_lengths(lengths, counts, n, HUFFMAN_LONGEST);
		check(counts, lengths, n, HUFFMAN_LONGEST);
		assert_int_equal(lengths[n - 1], 1);
		if (n < 20) {
			huffman_lengths(lengths, counts, n, 7);
			check(counts, lengths, n, 7);
		}
	}
}

/* The shortest there can be in all. */
static void test_optimal(void **state)
{
	static const uint32_t counts[] = { 45, 0, 13, 12, 16, 9, 5 };
	static const uint8_t wanted[] = { 1, 0, 3, 3, 3, 4, 4 };
	uint8_t lengths[7];

	(void)state;
	huffman_lengths(lengths, counts, 7, HUFFMAN_LONGEST);
	assert_memory_equal(lengths, wanted, sizeof(wanted));
}

static void test_all_symbols(void **state)
{
	uint32_t counts[HUFFMAN_SYMBOLS];
	uint8_t lengths[HUFFMAN_SYMBOLS];

	(void)state;
	for (unsigned int i = 0; i < HUFFMAN_SYMBOLS; i++)
		counts[i] = i * i * i % 1009;
	huffman_lengths(lengths, counts, HUFFMAN_SYMBOLS, HUFFMAN_LONGEST);
	for (unsigned int i = 0; i < HUFFMAN_SYMBOLS; i++)
		assert_int_equal(!counts[i], !lengths[i]);
	check(counts, lengths, HUFFMAN_SYMBOLS, HUFFMAN_LONGEST);
}

/* Decoders want two. */
static void test_few(void **state)
{
	static const uint8_t none[] = { 1, 1, 0 }, first[] = { 1, 1, 0 }, third[] = { 1, 0, 1 };
	uint32_t counts[3] = { 0 };
	uint8_t lengths[3];

	(void)state;
	huffman_lengths(lengths, counts, 3, 7);
	assert_memory_equal(lengths, none, 3);
	counts[0] = 5;
	huffman_lengths(lengths, counts, 3, 7);
	assert_memory_equal(lengths, first, 3);
	counts[0] = 0;
	counts[2] = 5;
	huffman_lengths(lengths, counts, 3, 7);
	assert_memory_equal(lengths, third, 3);
}

/* The example of RFC 1951, 3.2.2, whose codes are written from their highest bit on. */
static void test_codes(void **state)
{
	static const uint8_t lengths[] = { 3, 3, 3, 3, 3, 2, 4, 4 };
	static const uint16_t wanted[] = { 2, 6, 1, 5, 3, 0, 7, 15 };
	uint16_t codes[8];

	(void)state;
	huffman_codes(codes, lengths, 8);
	assert_memory_equal(codes, wanted, sizeof(wanted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit), cmocka_unit_test(test_optimal), cmocka_unit_test(test_all_symbols),
		cmocka_unit_test(test_few),   cmocka_unit_test(test_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
