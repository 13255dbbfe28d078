/* SPDX-License-Identifier: MIT */
/* test_deflate.c - zlib and libdeflate read what it writes, it keeps to its bound, and records become small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <libdeflate.h>
#include <zlib.h>

#include "base/deflate.h"
#include "base/gzip.h"

#define MOST 300000u

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* What records look like: some kinds, each with a time and a count of its own. */
static void fill_records(char *to, uint32_t seed)
{
	for (size_t at = 0; at < MOST; at++) {
		size_t place = at % 24;

		if (place < 3)
			to[at] = next(&seed) % (place ? 200 : 3);
		else
			to[at] = (char)(place * (at / 24 % 7));
	}
}

static void fill_noise(char *to, uint32_t seed)
{
	for (size_t at = 0; at < MOST; at++)
		to[at] = (char)next(&seed);
}

static void fill_zeros(char *to, uint32_t seed)
{
	memset(to, (char)seed, MOST);
}

/* Noise that comes again after so many bytes: distances up to the window's, and beyond. */
static void fill_repeats(char *to, uint32_t seed)
{
	static const size_t distances[] = { 32767, 32768, 32769, 65535, 65536, 65537, 1, 2, 3, 5, 9000 };
	size_t distance = distances[seed % (sizeof(distances) / sizeof(*distances))];

	fill_noise(to, seed);
	for (size_t at = distance; at < MOST; at++)
		if (at % 1000 > 20)
			to[at] = to[at - distance];
}

/* Bytes some of which are far more frequent, and few matches: codes become long. */
static void fill_skewed(char *to, uint32_t seed)
{
	for (size_t at = 0; at < MOST; at++)
		to[at] = (char)(__builtin_ctz(next(&seed) | 1 << 23) * 16 + (next(&seed) & next(&seed) & 15));
}

typedef void (*fill)(char *to, uint32_t seed);
static const fill fills[] = { fill_records, fill_noise, fill_zeros, fill_repeats, fill_skewed };
static const size_t sizes[] = { 1,   2,	  5,	6,    7,     8,	    9,	   10,	  13,	 14,	 100,
				258, 259, 1000, 4096, 32768, 32769, 32776, 65535, 65536, 262144, MOST };

/* Exactly as long as it may be: ASan sees what is written behind. */
static size_t press(struct deflate *d, const char *from, size_t size, char **packed)
{
	*packed = malloc(gzip_bound(size) + DEFLATE_ROOM);
	assert_non_null(*packed);
	return deflate_zlib(d, *packed, from, size);
}

static void reads(const char *from, size_t size, const char *packed, size_t packed_size)
{
	struct libdeflate_decompressor *other = libdeflate_alloc_decompressor();
	char *got = malloc(size);
	uLongf length = size;
	size_t used;

	assert_int_equal(uncompress((Bytef *)got, &length, (const Bytef *)packed, packed_size), Z_OK);
	assert_int_equal(length, size);
	assert_memory_equal(got, from, size);
	memset(got, 0, size);
	assert_int_equal(libdeflate_zlib_decompress_ex(other, packed, packed_size, got, size, &used, NULL),
			 LIBDEFLATE_SUCCESS);
	assert_int_equal(used, packed_size);
	assert_memory_equal(got, from, size);
	libdeflate_free_decompressor(other);
	free(got);
}

static void round_trip(struct deflate *d, const char *from, size_t size)
{
	char *packed, *plain = malloc(size);
	size_t packed_size;

	memcpy(plain, from, size);
	packed_size = press(d, plain, size, &packed);
	assert_in_range(packed_size, 1, gzip_bound(size) - GZIP_FRAME);
	reads(plain, size, packed, packed_size);
	free(packed);
	free(plain);
}

static void test_round_trips(void **state)
{
	struct deflate *d = deflate_new();
	char *from = malloc(MOST);

	(void)state;
	assert_non_null(d);
	for (uint32_t seed = 0; seed < 11; seed++)
		for (size_t f = 0; f < sizeof(fills) / sizeof(*fills); f++) {
			fills[f](from, seed);
			for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
				round_trip(d, from, sizes[i]);
		}
	free(from);
	deflate_free(d);
	deflate_free(NULL);
}

/* The same, whatever was compressed before: files do not depend on which thread had which part. */
static void test_no_memory_of_before(void **state)
{
	struct deflate *used = deflate_new(), *fresh = deflate_new();
	char *from = malloc(MOST), *packed[2];
	size_t sizes_of[2];

	(void)state;
	fill_repeats(from, 10);
	press(used, from, MOST, &packed[0]);
	free(packed[0]);
	fill_records(from, 1);
	sizes_of[0] = press(used, from, MOST, &packed[0]);
	sizes_of[1] = press(fresh, from, MOST, &packed[1]);
	assert_int_equal(sizes_of[0], sizes_of[1]);
	assert_memory_equal(packed[0], packed[1], sizes_of[0]);
	free(packed[0]);
	free(packed[1]);
	free(from);
	deflate_free(used);
	deflate_free(fresh);
}

/* As small as libdeflate's fastest level makes them, give or take a tenth. */
static void test_records_become_small(void **state)
{
	struct libdeflate_compressor *other = libdeflate_alloc_compressor(1);
	struct deflate *d = deflate_new();
	char *from = malloc(MOST), *packed;
	size_t size, others;

	(void)state;
	fill_records(from, 3);
	size = press(d, from, MOST, &packed);
	others = libdeflate_zlib_compress(other, from, MOST, packed, gzip_bound(MOST));
	assert_in_range(size, 1, others + others / 10);
	free(packed);
	free(from);
	deflate_free(d);
	libdeflate_free_compressor(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_no_memory_of_before),
		cmocka_unit_test(test_records_become_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
