// SPDX-License-Identifier: MIT
/* test_pt_walk.c - short traces, and at which steps the walk stops in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "pt/pt_walk.h"

#define PSB	  "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"
#define PSBEND	  "\x02\x23"
#define TSC(n)	  "\x19\0\x10\0\0\0\0" n /* n << 48 | 0x1000 */
#define BEGIN	  PSB TSC("\0") PSBEND
#define OVF	  "\x02\xf3"
#define PTW(c)	  "\x02\x32" c "\0\0\0\0\0\0\0"
#define PTW_IP(c) "\x02\xb2" c "\0\0\0\0\0\0\0"
#define FUP	  "\x3d\x11\x22"
#define NO_IP	  "\x1d"
#define PGE	  "\x31\x11\x22"
#define TNT	  "\x06"
#define BAD	  "\x02\xff"

/* Steps as letters: q quiet, o overflow, d damage, a word's payload as itself. */
static const struct {
	const char *bytes;
	size_t size;
	const char *steps;
	bool branches;
} cases[] = {
#define CASE(text, ...) \
	{ \
		.bytes = text, .size = sizeof(text) - 1, .steps = __VA_ARGS__ \
	}
	CASE("", ""),
	CASE(PTW("A"), ""), /* before the first PSB */
	CASE("\x82\x02" BEGIN PTW("A"), "qA"),
	CASE(BEGIN PTW("A") "\0\0" PTW("B"), "qAB"),
	CASE(BEGIN PTW("A") BEGIN PTW("B"), "qAqB"),
	CASE(PSB PSBEND PTW("A") TSC("\0") PTW("B"), "B"), /* A has no time */
	CASE(BEGIN PTW_IP("A") FUP PTW("B"), "qAB"),
	CASE(BEGIN PTW_IP("A") "\0\0\0" FUP, "qA"),
	CASE(BEGIN PTW_IP("A") PTW("B"), "qB"), /* perf drops a PTW whose FUP is missing */
	CASE(BEGIN PTW_IP("A") NO_IP PTW("B") FUP, "qBA"),
	CASE(BEGIN PTW("A") OVF PTW("B"), "qAoB"),
	CASE(BEGIN PTW_IP("A") OVF FUP PTW("B"), "qoqB"), /* the FUP is of the OVF */
	CASE(BEGIN FUP PTW("A"), "qA"),
	CASE(BEGIN PGE PTW("A"), "qqA"),
	CASE(BEGIN TNT PTW("A"), "qA"),
	CASE(BEGIN TNT PTW("A"), "qqA", true),
	CASE(BEGIN PTW("A") BAD PTW("B") BEGIN PTW("C"), "qAdqC"),
	CASE(PSB TSC("\0") PTW("A") PTW("B"), "dB"),	    /* the PSB+ was cut off: perf drops A */
	CASE(BEGIN PSB TSC("\0") PTW("A") PTW("B"), "qAB"), /* not so in the midst of a trace */
	CASE(BEGIN PTW("A") "\x02\x32"
			    "B",
	     "qAd"), /* the chunk was cut off */
#undef CASE
};

static const struct pt_clocks clocks = { .conv.shift = 0, .conv.mult = 1, .max_ratio = 1 };

static void walk(const void *bytes, size_t size, bool branches, char *steps)
{
	static const char letters[] = { [STEP_QUIET] = 'q', [STEP_OVERFLOW] = 'o', [STEP_DAMAGE] = 'd' };
	struct pt_walk w;
	enum pt_step step;

	pt_walk_init(&w, &clocks, branches);
	pt_walk_chunk(&w, bytes, (const uint8_t *)bytes + size, 0x1000, true);
	while ((step = pt_walk_next(&w)) != STEP_END)
		*steps++ = step == STEP_WORD ? (char)w.word : letters[step];
	*steps = '\0';
}

static void test_cases(void **state)
{
	char steps[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		walk(cases[i].bytes, cases[i].size, cases[i].branches, steps);
		assert_string_equal(steps, cases[i].steps);
	}
}

/* A trace in two chunks, cut between any two packets, is the same trace. */
static void test_chunks(void **state)
{
	static const char bytes[] = BEGIN PTW("A") PTW_IP("B") FUP BEGIN PTW("C");
	static const size_t cuts[] = { 16, 24, 26, 36, 46, 49, 65, 75 };
	const uint8_t *p = (const uint8_t *)bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		unsigned words = 0;
		struct pt_walk w;
		enum pt_step step;

		pt_walk_init(&w, &clocks, false);
		pt_walk_chunk(&w, p, p + cuts[i], 0x1000, true);
		while ((step = pt_walk_next(&w)) != STEP_END)
			words += step == STEP_WORD;
		pt_walk_chunk(&w, p + cuts[i], p + sizeof(bytes) - 1, 0x1000, false);
		while ((step = pt_walk_next(&w)) != STEP_END)
			words += step == STEP_WORD;
		assert_int_equal(words, 3);
	}
}

/* A chunk that does not continue the one before begins with its own PSB and time. */
static void test_anew(void **state)
{
	static const char old[] = PSB TSC("\1") PSBEND PTW("A"), new[] = PTW("B") BEGIN PTW("C");
	struct pt_walk w;

	(void)state;
	pt_walk_init(&w, &clocks, false);
	pt_walk_chunk(&w, (const uint8_t *)old, (const uint8_t *)old + sizeof(old) - 1, (1ull << 48) + 0x1000, true);
	assert_int_equal(pt_walk_next(&w), STEP_QUIET);
	assert_int_equal(pt_walk_next(&w), STEP_WORD);
	assert_int_equal(w.stamp, (1ull << 48) + 0x1000);
	assert_int_equal(pt_walk_next(&w), STEP_END);
	pt_walk_chunk(&w, (const uint8_t *)new, (const uint8_t *)new + sizeof(new) - 1, 0x1000, true);
	assert_int_equal(pt_walk_next(&w), STEP_QUIET);
	assert_int_equal(pt_walk_next(&w), STEP_WORD);
	assert_int_equal(w.word, 'C');
	assert_int_equal(w.time.now, 0x1000);
	assert_int_equal(w.stamp, (1ull << 48) + 0x1000); /* no step is before another */
}

/* An ip is written as far as it differs from the one before; a PSB forgets that (SDM, "IP Compression"). */
static void test_branches(void **state)
{
	static const char bytes[] = BEGIN "\x6d\x66\x55\x44\x33\x22\x91"
					  "\x2d\x11\x22"
					  "\x4d\x01\x02\x03\x04"
					  "\x0d"
					  "\x8d\x01\0\0\0\0\0"
					  "\xcd\x08\x07\x06\x05\x04\x03\x02\x01"
					  "\x3d\x99\x99"
					  "\x51\x01\x02\x03\x04"
					  "\x21\x33\x44"
					  "\x2d\x55\x66" BEGIN "\x2d\x07\0";
	static const struct {
		enum pt_step step;
		uint64_t ip;
	} rows[] = {
		{ STEP_QUIET, 0 },
		{ STEP_BRANCH, 0xffff912233445566 }, /* 6 bytes, extended by their sign */
		{ STEP_BRANCH, 0xffff912233442211 },
		{ STEP_BRANCH, 0xffff912204030201 },
		{ STEP_QUIET, 0 }, /* no ip */
		{ STEP_BRANCH, 0xffff000000000001 },
		{ STEP_BRANCH, 0x0102030405060708 },
		{ STEP_ENTER, 0x0102030404030201 }, /* the FUP before it counts, too */
		{ STEP_QUIET, 0 },		    /* so does the TIP.PGD */
		{ STEP_BRANCH, 0x0102030404036655 },
		{ STEP_QUIET, 0 },
		{ STEP_BRANCH, 7 },
		{ STEP_END, 0 },
	};
	struct pt_walk w;

	(void)state;
	pt_walk_init(&w, &clocks, true);
	w.tips = true;
	pt_walk_chunk(&w, (const uint8_t *)bytes, (const uint8_t *)bytes + sizeof(bytes) - 1, 0x1000, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(pt_walk_next(&w), rows[i].step);
		if (rows[i].ip)
			assert_int_equal(w.word, rows[i].ip);
	}
}

/* The fast way over CYC and PTW is the slow one: packets at random, once with it and once without. */
static size_t make_noise(uint8_t *to, size_t size)
{
#define PACKET(text) \
	{ \
		text, sizeof(text) - 1 \
	}
	static const struct {
		const char *bytes;
		size_t size;
	} packets[] = {
		PACKET("\x0b" PTW("A")),
		PACKET("\x1b" PTW("B")),
		PACKET("\x0f\x08" PTW("C")),
		PACKET("\x0f\x0b\x02" PTW("D")),
		PACKET("\x13"),
		PACKET("\0"),
		PACKET(PTW("E")),
		PACKET(PTW_IP("F")),
		PACKET(FUP),
		PACKET(NO_IP),
		PACKET(PGE),
		PACKET(TNT),
		PACKET("\x01"),
		PACKET(OVF),
		PACKET(BEGIN),
		PACKET(PSB),
		PACKET(PSBEND),
		PACKET(TSC("\0")),
		PACKET("\x2d\x11\x22"),
		PACKET("\x4d\x11\x22\x33\x44"),
		PACKET("\x6d\x11\x22\x33\x44\x55\xf6"),
		PACKET("\x8d\x11\x22\x33\x44\x55\x66"),
		PACKET("\xcd\x11\x22\x33\x44\x55\x66\x77\x88"),
		PACKET("\x0d"),
		PACKET("\x01"),
		PACKET("\x41\x11\x22\x33\x44"),
		PACKET("\x02\xa3\1\2\3\4\5\6"),
		PACKET("\x02\xa3\1\0\0\0\0\0"),
		PACKET("\x02\xa3\0\0\0\0\0\0"),
		PACKET("\xad\x11"),
		PACKET("\x02\x12\1\2\3\4"),
		PACKET("\x04"),
		PACKET("\xfe"),
		PACKET("\x02\x03\x08\0"),
		PACKET("\x02\x03\x01\0"),
		PACKET("\x02\x63\0"),
		PACKET(BAD),
	};
	size_t n = sizeof(packets) / sizeof(packets[0]), used = 0;

	while (used + 64 < size) { /* mostly the first ones */
		size_t i = random() % (random() % 4 ? 4 : n);

		memcpy(to + used, packets[i].bytes, packets[i].size);
		used += packets[i].size;
	}
	return used;
#undef PACKET
}

static void test_fast_is_slow(void **state)
{
	static uint8_t bytes[1 << 16];
	uint64_t fast = 0;

	(void)state;
	srandom(1);
	for (int round = 0; round < 100; round++) {
		size_t size = make_noise(bytes, sizeof(bytes));
		struct pt_walk a, b;
		enum pt_step step;

		pt_walk_init(&a, &clocks, round % 2);
		pt_walk_chunk(&a, bytes, bytes + size, 0x1000, true);
		pt_walk_init(&b, &clocks, round % 2);
		pt_walk_chunk(&b, bytes, bytes + size, 0x1000, true);
		a.tips = b.tips = round % 4 > 1;
		do {
			b.plain = false;
			fast += a.plain;
			step = pt_walk_next(&a);
			assert_int_equal(pt_walk_next(&b), step);
			assert_true(a.p == b.p && a.stamp == b.stamp && a.core == b.core && a.time.now == b.time.now);
			assert_true(a.after_cyc == b.after_cyc && a.cbr_reported == b.cbr_reported);
			assert_true(a.ip == b.ip && (step != STEP_WORD || a.word == b.word));
			assert_true(a.enabled == b.enabled && a.overflowed == b.overflowed);
		} while (step != STEP_END);
	}
	assert_true(fast > 10000);
}

/* Where quiet steps need not be told, words and branches come as before, and what was passed is the last of them. */
static void test_quiet_steps_are_passed(void **state)
{
	static uint8_t bytes[1 << 16];
	uint64_t passed = 0;

	(void)state;
	srandom(2);
	for (int round = 0; round < 100; round++) {
		size_t size = make_noise(bytes, sizeof(bytes));
		struct pt_walk a, b;
		enum pt_step step, told;

		pt_walk_init(&a, &clocks, true);
		pt_walk_chunk(&a, bytes, bytes + size, 0x1000, true);
		pt_walk_init(&b, &clocks, true);
		pt_walk_chunk(&b, bytes, bytes + size, 0x1000, true);
		a.tips = b.tips = round % 2;
		a.quiet_until = UINT64_MAX;
		do {
			uint64_t stamp = 0, core = 0;

			a.passed.stamp = 0;
			step = pt_walk_next(&a);
			while ((told = pt_walk_next(&b)) == STEP_QUIET && b.p != a.p) {
				stamp = b.stamp;
				core = b.core;
			}
			assert_int_equal(told, step);
			assert_true(a.p == b.p && a.stamp == b.stamp && a.core == b.core && a.word == b.word);
			if (a.passed.stamp)
				assert_true(a.passed.stamp == stamp && a.passed.core == core);
			passed += a.passed.stamp != 0;
		} while (step != STEP_END);
	}
	assert_true(passed > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	     cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_anew),	     cmocka_unit_test(test_branches),
		cmocka_unit_test(test_fast_is_slow), cmocka_unit_test(test_quiet_steps_are_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
