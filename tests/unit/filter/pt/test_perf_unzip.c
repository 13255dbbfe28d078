// SPDX-License-Identifier: MIT
/* test_perf_unzip.c - records compressed as one stream, passed in pieces of any size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "pt/perf_unzip.h"

#define RECORDS 500

static void pack(uint8_t *packed, size_t *size)
{
	static uint8_t plain[RECORDS * 64];
	size_t end = 0;

	for (int i = 0; i < RECORDS; i++) {
		struct perf_record rec = { i, 0, 8 + 8 * (i % 7) };

		memset(plain + end, i, rec.size);
		memcpy(plain + end, &rec, sizeof(rec));
		end += rec.size;
	}
	*size = ZSTD_compress(packed, *size, plain, end, 1);
	assert_false(ZSTD_isError(*size));
}

static void test_pieces(void **state)
{
	static const size_t pieces[] = { 1, 7, 100, 100000 };
	static uint8_t packed[RECORDS * 64];
	size_t size = sizeof(packed);

	(void)state;
	pack(packed, &size);
	for (int k = 0; k < 4; k++) {
		struct perf_unzip u = { 0 };
		const struct perf_record *rec;
		uint32_t seen = 0;
		int err;

		for (size_t at = 0; at < size; at += pieces[k]) {
			size_t n = size - at < pieces[k] ? size - at : pieces[k];

			assert_int_equal(perf_unzip_put(&u, packed + at, n), 0);
			for (; (rec = perf_unzip_next(&u, &err)); seen++) {
				assert_int_equal(rec->type, seen);
				assert_int_equal(rec->size, 8 + 8 * (seen % 7));
			}
			assert_int_equal(err, 0);
		}
		assert_int_equal(seen, RECORDS);
		perf_unzip_free(&u);
	}
}

static void test_no_zstd(void **state)
{
	struct perf_unzip u = { 0 };

	(void)state;
	assert_int_equal(perf_unzip_put(&u, "no zstd at all", 14), -EBADMSG);
	perf_unzip_free(&u);
}

static void test_no_records(void **state)
{
	static const struct perf_record bad[] = { { 1, 0, 7 }, { 1, 0, 12 } };
	struct perf_unzip u = { 0 };
	uint8_t packed[128];
	int err;

	(void)state;
	for (int i = 0; i < 2; i++) {
		size_t size = ZSTD_compress(packed, sizeof(packed), &bad[i], sizeof(bad[i]), 1);

		assert_int_equal(perf_unzip_put(&u, packed, size), 0);
		assert_null(perf_unzip_next(&u, &err));
		assert_int_equal(err, -EBADMSG);
		perf_unzip_free(&u);
		u = (struct perf_unzip){ 0 };
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_no_zstd),
		cmocka_unit_test(test_no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
