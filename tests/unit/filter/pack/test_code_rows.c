/* SPDX-License-Identifier: MIT */
/* test_code_rows.c - any text comes back, tables become small, and damaged columns are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "any.h"
#include "comes_back.h"
#include "pack/code_rows.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define ROUNDS	 3000
#define SIZE	 4096

static size_t assert_comes_back(const void *bytes, size_t n)
{
	return kind_comes_back(PIECE_TABLE, bytes, n);
}

/* The number of bytes that are not literals. */
static size_t taken_apart(const char *text)
{
	uint32_t head[CODE_ROWS_NUMBERS];

	assert_comes_back(text, strlen(text));
	memcpy(head, made, sizeof(head));
	return head[0] - head[2];
}

/* --- what there is in a table ---------------------------------------------------------------------------- */

static int any_number(void)
{
	static const int edges[] = { -1, 0, 9, 10, 255, 256, 99999, (1 << 24) - 1, 1 << 24, -2, 2147483647 };

	return any(4) ? (int)any(300) : edges[any(COUNT(edges))];
}

static size_t put_row(char *to)
{
	return sprintf(to, "[%d,%d,%d,%d]", any_number(), any_number(), any(20) ? (int)any(256) : any_number(),
		       any_number());
}

static size_t put_text(char *bytes, size_t most)
{
	static const char *const between[] = { ",", ",", ",", ",", "],[", "[[", "\"line\":", "0", " " };
	size_t n = 0;

	while (n + 128 < most) {
		n += put_row(bytes + n);
		n += sprintf(bytes + n, "%s", any(8) ? "," : between[any(COUNT(between))]);
	}
	return n;
}

static void damage(uint8_t *bytes, size_t n, uint32_t times)
{
	while (n && times--)
		bytes[any(n)] = any(2) ? any(256) : (uint8_t) "[],-0"[any(5)];
}

/* --- tests ------------------------------------------------------------------------------------------------ */

#define ROW4   "[0,1,2,-1],[2,1,3,8],[4,1,5,0],[6,2,7,-1]"
#define LARGE4 "[16777215,16777215,255,-1],[-1,-1,0,16777215],[0,0,0,0],[16777215,0,0,0]"

static void test_what_is_a_row(void **unused)
{
	static const struct {
		const char *text;
		size_t taken;
	} cases[] = {
		{ "", 0 },
		{ "[", 0 },
		{ "[[" ROW4 "]]", strlen(ROW4) },
		{ ROW4 ROW4, 2 * strlen(ROW4) }, /* two runs, nothing between */
		{ ROW4 ",", strlen(ROW4) },
		{ ROW4 ",[0,1,2]", strlen(ROW4) },
		{ "[0,1,2,-1],[2,1,3,8],[4,1,5,-1]", 0 }, /* too few */
		{ "[0,1,2,-1],[2,1,3,8],[4,1,5,-1],[6,2,7", 0 },
		{ "[0,1,2,-1], [2,1,3,8],[4,1,5,-1],[6,2,7,-1]", 0 }, /* not as the table is written */
		{ "[0,1,2,-1],[02,1,3,8],[4,1,5,-1],[6,2,7,-1]", 0 },
		{ "[0,1,2,-1],[-2,1,3,8],[4,1,5,-1],[6,2,7,-1]", 0 },
		{ "[0,1,2,-1],[2,1,256,8],[4,1,5,-1],[6,2,7,-1]", 0 }, /* no opcode */
		{ "[0,1,2,-1],[2,1,-1,8],[4,1,5,-1],[6,2,7,-1]", 0 },
		{ "[0,1,2,-1],[2,16777216,3,8],[4,1,5,-1],[6,2,7,-1]", 0 }, /* too large */
		{ "[0,1,2,-1],[2,1,3.0,8],[4,1,5,-1],[6,2,7,-1]", 0 },
		{ "[0,1,2,-1],[2,1,3,8,9],[4,1,5,-1],[6,2,7,-1]", 0 },
		{ LARGE4, strlen(LARGE4) },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(taken_apart(cases[i].text), cases[i].taken);
}

static void test_any_text_comes_back(void **unused)
{
	char bytes[SIZE];

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = put_text(bytes, 129 + any(SIZE - 129));

		damage((uint8_t *)bytes, n, any(3) ? 0 : any(40));
		assert_comes_back(bytes, any(2) ? n : any(n + 1)); /* cut anywhere */
	}
}

static void fill(char *bytes, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < TRANSPOSE_MOST; i++)
		bytes[i] = text[i % n];
	assert_comes_back(bytes, TRANSPOSE_MOST);
}

/* The least text for the most columns, and the most for nothing. */
static void test_a_whole_piece(void **unused)
{
	char *bytes = malloc(TRANSPOSE_MOST);

	(void)unused;
	fill(bytes, "[");
	fill(bytes, "[0,0,0,0],");
	fill(bytes, "[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]");
	fill(bytes, "[0,0,0,0],[16777215,16777215,0,0],[0,0,0,16777215],[0,0,0,0] ");
	fill(bytes, "[0,0,0,0],[0,0,0,0],[0,0,0,0] ");
	fill(bytes, "[16777215,16777215,255,16777215],");
	put_text(bytes, TRANSPOSE_MOST);
	assert_comes_back(bytes, TRANSPOSE_MOST);
	free(bytes);
}

/* What it is for: how far an offset goes on depends on the opcode, and so it takes nothing. */
static void test_tables_become_small(void **unused)
{
	enum { N = 20000 };
	static const int sizes[] = { 2, 10, 20, 4 };
	char *bytes = malloc(N * 34), *p = bytes, *small = malloc(ZSTD_compressBound(N * 34));
	size_t size;
	int offset = 0;

	(void)unused;
	for (int i = 0; i < N; i++) {
		int opcode = any(COUNT(sizes));

		p += sprintf(p, "%s[%d,%d,%d,-1]", i ? "," : "", offset, 1000 + i / 50, opcode);
		offset += sizes[opcode];
	}
	size = assert_comes_back(bytes, p - bytes);
	assert_true(size <= (size_t)5 * N);
	assert_true(ZSTD_compress(small, ZSTD_compressBound(size), made, size, 3) < N / 2); /* opcodes: 2 bits each */
	free(small);
	free(bytes);
}

static void test_damaged_columns_are_refused_or_harmless(void **unused)
{
	char bytes[SIZE];
	uint8_t *whole;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = put_text(bytes, 129 + any(SIZE - 129)),
		       size = code_rows_put(pieces.code_rows, (uint8_t *)bytes, n, made);

		damage(made, any(2) ? 32 : size, 1 + any(8));
		size = any(4) ? size : any(size);
		whole = malloc(size ? size : 1);
		memcpy(whole, made, size);
		if (code_rows_size(whole, size) >= 0)
			code_rows_get(pieces.code_rows, whole, size, back);
		free(whole);
	}
	assert_int_equal(code_rows_size(made, 0), -EBADMSG);
}

static void test_refused(void **unused)
{
	static const struct {
		uint32_t head[CODE_ROWS_NUMBERS];
		uint8_t columns[16];
	} cases[] = {
		{ { TRANSPOSE_MOST + 1, 16 }, { 0 } },		     /* too large */
		{ { 4, 15 }, { 0 } },				     /* columns are shorter than what is there */
		{ { 4, 0xffffffff, 17 }, { 0 } },		     /* or longer, their sum small */
		{ { 4, 16 }, { 0 } },				     /* runs of nothing */
		{ { 4, 16 }, { 255, 255, 255, 255, 255 } },	     /* a number without an end */
		{ { 4, 2, 14 }, { 5, 0 } },			     /* more literals than the piece has */
		{ { 4, 2, 4, 0, 10 }, { 4, 0 } },		     /* columns that nothing took */
		{ { 9, 2, 0, 1, 1, 0, 12 }, { 0, 1 } },		     /* a row without an opcode */
		{ { 11, 2, 0, 1, 1, 1, 11 }, { 0, 1, 3 } },	     /* its offset is -2 */
		{ { 11, 2, 0, 1, 1, 1, 11 }, { 0, 1, 0, 3 } },	     /* its line */
		{ { 11, 2, 0, 1, 1, 1, 11 }, { 0, 1, 0, 0, 0, 4 } }, /* its target */
		{ { 24, 2, 0, 1, 4, 1, 8 }, { 0, 1, 0, 254, 255, 255, 127, 0, 0 } }, /* a line too large */
		{ { 8, 2, 0, 1, 1, 1, 11 }, { 0, 1, 0, 0, 0, 0 } }, /* the row is longer than the piece */
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const uint8_t *from = (const uint8_t *)&cases[i];
		int64_t size = code_rows_size(from, sizeof(cases[i]));

		assert_int_equal(size < 0 ? size : code_rows_get(pieces.code_rows, from, sizeof(cases[i]), back),
				 -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_a_row),
		cmocka_unit_test(test_any_text_comes_back),
		cmocka_unit_test(test_a_whole_piece),
		cmocka_unit_test(test_tables_become_small),
		cmocka_unit_test(test_damaged_columns_are_refused_or_harmless),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make, drop);
}
