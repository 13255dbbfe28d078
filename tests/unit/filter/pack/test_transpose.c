/* SPDX-License-Identifier: MIT */
/* test_transpose.c - any bytes come back, markers become small, and damaged columns are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "any.h"
#include "comes_back.h"
#include "pack/transpose.h"
#include "shared/marker.h"
#include "shared/ptput.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define ROUNDS	 3000
#define SIZE	 4096

static size_t assert_comes_back(const void *bytes, size_t n)
{
	return kind_comes_back(PIECE_DATA, bytes, n);
}

/* --- what there is in a trace ---------------------------------------------------------------------------- */

static size_t put_cyc(uint8_t *p)
{
	size_t n = 1 + any(4);

	for (size_t i = 0; i < n; i++)
		p[i] = any(256) & (i ? 0xfe : 0xf8);
	p[0] |= 3 | (n > 1 ? 4 : 0);
	for (size_t i = 1; i + 1 < n; i++)
		p[i] |= 1;
	return n;
}

static size_t put_payload(uint8_t *p, uint64_t word, bool wide)
{
	p[0] = 2;
	p[1] = wide ? 0x32 : 0x12;
	memcpy(p + 2, &word, 8);
	return wide ? 10 : 6;
}

/* Few events and few numbers, so that many words have one, some more than one, and some numbers two words. */
static size_t put_ptw(uint8_t *p)
{
	static uint32_t seq;
	uint32_t code = any(3) ? any(6) : any(1 << 24);

	seq += any(20) ? 1 : any(100);
	switch (any(5)) {
	case 0:
		return put_payload(
			p, marker_head(0, seq) | marker_extension(0, KIND_NUMBER, any(10) ? any(6) : 1u << 21), true);
	case 1:
		return put_payload(p, (seq & 0x7f) << MARKER_SHORT_SEQ_SHIFT | any(1000), false);
	case 2:
	case 3:
		return put_payload(p, marker_short_of(seq, any(6)), false);
	default:
		return put_payload(p, marker_head(1 + any(9), seq) | (uint64_t)code << MARKER_CODE_SHIFT, true);
	}
}

static size_t put_noise(uint8_t *p)
{
	size_t n = any(24);

	for (size_t i = 0; i < n; i++)
		p[i] = any(256);
	return n;
}

/* Runs of pairs, single packets, and bytes that are neither. */
static size_t put_trace(uint8_t *bytes, size_t most)
{
	size_t n = 0;

	while (n + 32 < most)
		switch (any(4)) {
		case 0:
			n += put_noise(bytes + n);
			break;
		case 1:
			n += any(2) ? put_cyc(bytes + n) : put_ptw(bytes + n);
			break;
		default:
			n += put_cyc(bytes + n);
			n += put_ptw(bytes + n);
		}
	return n;
}

static void damage(uint8_t *bytes, size_t n, uint32_t times)
{
	while (n && times--)
		bytes[any(n)] = any(2) ? any(256) : any(4) ? 2 : 0xff;
}

/* --- tests ------------------------------------------------------------------------------------------------ */

static void test_edges(void **unused)
{
	static const struct {
		size_t n;
		uint8_t bytes[24];
	} cases[] = {
		{ 0, { 0 } },
		{ 1, { 3 } },
		{ 1, { 7 } },								/* another byte would follow */
		{ 2, { 7, 1 } },							/* and another */
		{ 3, { 3, 2, 0x32 } },							/* no payload */
		{ 10, { 3, 2, 0x32, 1, 2, 3, 4, 5, 6, 7 } },				/* nor all of it */
		{ 11, { 3, 2, 0x32, 1, 2, 3, 4, 5, 6, 7, 8 } },				/* a pair alone */
		{ 11, { 3, 2, 0x52, 1, 2, 3, 4, 5, 6, 7, 8 } },				/* a PTW that is none */
		{ 7, { 3, 2, 0x12, 1, 2, 3, 4 } },					/* a short one */
		{ 18, { 3, 2, 0x12, 1, 2, 3, 4, 3, 2, 0x32, 1, 2, 3, 4, 5, 6, 7, 8 } }, /* two shapes */
		{ 12, { 3, 3, 2, 0x32, 1, 2, 3, 4, 5, 6, 7, 8 } },			/* a CYC before it */
		{ 14, { 7, 1, 1, 0, 2, 0x32, 255, 255, 255, 255, 255, 255, 255, 255 } },
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_comes_back(cases[i].bytes, cases[i].n);
}

static void test_any_trace_comes_back(void **unused)
{
	uint8_t bytes[SIZE];

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = put_trace(bytes, 33 + any(SIZE - 33));

		damage(bytes, n, any(3) ? 0 : any(40));
		assert_comes_back(bytes, any(2) ? n : any(n + 1)); /* cut anywhere */
	}
}

static void test_a_whole_piece(void **unused)
{
	uint8_t *bytes = calloc(1, TRANSPOSE_MOST);

	(void)unused;
	put_trace(bytes, TRANSPOSE_MOST);
	assert_comes_back(bytes, TRANSPOSE_MOST);
	memset(bytes, 3, TRANSPOSE_MOST); /* no pair ever comes */
	assert_comes_back(bytes, TRANSPOSE_MOST);
	memset(bytes, 7, TRANSPOSE_MOST); /* one CYC without an end at each byte */
	assert_comes_back(bytes, TRANSPOSE_MOST);
	free(bytes);
}

/* What it is for: a loop of one place, and a clock that ticks evenly, take next to nothing. */
static void test_markers_become_small(void **unused)
{
	enum { N = 100000 };
	uint8_t *bytes = malloc(N * 11), *small = malloc(ZSTD_compressBound(2 * N * 11)), *p = bytes;
	size_t size;

	(void)unused;
	for (uint32_t i = 0; i < N; i++) {
		uint64_t word = marker_head(OP_JUMP, i) | 77ull << MARKER_CODE_SHIFT;

		*p++ = 3 | 9 << 3;
		*p++ = 2;
		*p++ = 0x32;
		p = (uint8_t *)memcpy(p, &word, 8) + 8;
	}
	size = assert_comes_back(bytes, p - bytes);
	assert_true(ZSTD_compress(small, ZSTD_compressBound(size), made, size, 3) < N / 100);
	free(small);
	free(bytes);
}

/* A clock of 100 MHz in cycles of 2.45 GHz: 24 or 25 in each of 24.5, so 8 bytes of times are 4. */
static void test_steps_of_a_clock(void **unused)
{
	enum { N = 1000 };
	uint8_t *bytes = malloc(N * 12), *p = bytes;
	uint64_t eighths = 0;

	(void)unused;
	for (uint32_t i = 0; i < N; i++) {
		uint64_t then = eighths;

		eighths += (2 + any(100)) * 196;
		p = ptput_cyc(p, eighths / 8 - then / 8);
		p = ptput_ptw(p, marker_event(OP_LINE, 0, 3, 9, 0) | marker_head(0, i));
	}
	assert_int_equal(assert_comes_back(bytes, p - bytes), 6 * 4 + 3 + N + 8 * N);
	free(bytes);
}

/* As the recorder writes a loop of three places: each whole twice, the second time with a number, and then short. */
static size_t put_numbered(uint8_t *p, uint32_t n, bool numbers)
{
	uint8_t *const begin = p;
	uint32_t seq = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t word = marker_event(OP_LINE, 0, 1 + i % 3, 9, 0);
		uint32_t number = numbers && i >= 3 ? 1 + i % 3 : 0;

		if (number && i < 6) {
			*p++ = 3;
			p += put_payload(p, marker_extension(seq++, KIND_NUMBER, number), true);
		}
		*p++ = 3 | 9 << 3;
		if (number && i >= 6)
			p += put_payload(p, marker_short_of(seq++, number), false);
		else
			p += put_payload(p, word | marker_head(0, seq++), true);
	}
	return p - begin;
}

/* Words that numbers stand for are written as without numbers: what is short need not be told. */
static void test_numbers_cost_nothing(void **unused)
{
	enum { N = 10000 };
	uint8_t *bytes = malloc(N * 12 + 64);
	size_t whole, numbered;

	(void)unused;
	whole = assert_comes_back(bytes, put_numbered(bytes, N, false));
	numbered = assert_comes_back(bytes, put_numbered(bytes, N, true));
	assert_int_equal(numbered, whole + 3 * 9); /* the three words that gave the numbers */
	free(bytes);
}

static void test_damaged_columns_are_refused_or_harmless(void **unused)
{
	uint8_t bytes[SIZE], *whole;

	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = put_trace(bytes, 33 + any(SIZE - 33)),
		       size = transpose_put(pieces.transpose, bytes, n, made);

		damage(made, any(2) ? 28 : size, 1 + any(8));
		size = any(4) ? size : any(size);
		whole = malloc(size ? size : 1);
		memcpy(whole, made, size);
		if (transpose_size(whole, size) >= 0)
			transpose_get(pieces.transpose, whole, size, back);
		free(whole);
	}
	assert_int_equal(transpose_size(made, 0), -EBADMSG);
}

static void test_refused(void **unused)
{
	static const struct {
		uint32_t head[6];
		uint8_t columns[16];
	} cases[] = {
		{ { TRANSPOSE_MOST + 1, 16, 0, 0, 0, 0 }, { 0 } },	/* too large */
		{ { 4, 15, 0, 0, 0, 0 }, { 0 } },			/* columns are shorter than what is there */
		{ { 4, 0xffffffff, 17, 0, 0, 0 }, { 0 } },		/* or longer, their sum small */
		{ { 4, 16, 0, 0, 0, 0 }, { 0 } },			/* runs of nothing */
		{ { 4, 16, 0, 0, 0, 0 }, { 255, 255, 255, 255, 255 } }, /* a number without an end */
		{ { 4, 2, 14, 0, 0, 0 }, { 5, 0 } },			/* more literals than the piece has */
		{ { 4, 2, 4, 0, 10, 0 }, { 4, 0 } },			/* columns that nothing took */
		{ { 11, 2, 0, 1, 13, 0 }, { 0, 2, 3 } },		/* a short pair, and the piece is not full */
		{ { 11, 2, 0, 1, 13, 513 }, { 0, 3, 3 } },		/* no clock has such a step */
		{ { 11, 2, 0, 1, 13, 196 }, { 0, 3, 128 } },		/* steps without an end */
	};

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int64_t size = transpose_size((const uint8_t *)&cases[i], sizeof(cases[i]));

		assert_int_equal(
			size < 0 ? size
				 : transpose_get(pieces.transpose, (const uint8_t *)&cases[i], sizeof(cases[i]), back),
			-EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_any_trace_comes_back),
		cmocka_unit_test(test_a_whole_piece),
		cmocka_unit_test(test_markers_become_small),
		cmocka_unit_test(test_steps_of_a_clock),
		cmocka_unit_test(test_numbers_cost_nothing),
		cmocka_unit_test(test_damaged_columns_are_refused_or_harmless),
		cmocka_unit_test(test_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make, drop);
}
