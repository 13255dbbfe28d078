// SPDX-License-Identifier: MIT
/*
 * test_pt_scan.c - words and branches that are gathered are those that are told one by one, with the same time and
 * cycles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "pt/pt_walk.h"

#define BEGIN "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x19\0\x10\0\0\0\0\0\x02\x23"
/* A TSC packet that doubles do not count one by one any more: some months after the machine was started. */
#define LATE	"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x19\x03\x10\0\0\0\0\x40\x02\x23"
#define PACKETS 3000
#define MOST	(PACKETS * 16)

struct told {
	uint64_t step, bits, ns, core;
};

/* The step before, told or not: up to there cycles are counted. */
struct before {
	uint64_t stamp, core;
};

struct log {
	unsigned n, gathered, full;
	struct told at[PACKETS];
	struct before before[PACKETS]; /* stamp 0: not known, of one that was gathered */
};

static const struct pt_clocks clocks = { .conv.shift = 1, .conv.mult = 3, .max_ratio = 28 };

/* What a trace has most of, and some of what it has rarely; TIP, PGE, PGD and FUP with ips of all sizes. */
static const struct {
	const char *bytes;
	uint8_t size;
} packets[] = {
#define P(text) \
	{ \
		text, sizeof(text) - 1 \
	}
	P("\x2d\x11\x22"),
	P("\x2d\x33\x44"),
	P("\x4d\x55\x66\x77\x08"),
	P("\x8d\1\2\3\4\5\6"),
	P("\xcd\1\2\3\4\5\6\7\x80"),
	P("\x31\x01\x02"),
	P("\x51\1\2\3\4"),
	P("\x21\x03\x04"),
	P("\x01"),
	P("\x41\1\2\3\4"),
	P("\x41\1\2\3\4"
	  "\x51\5\6\7\x08"),
	P("\x41\1\2\3\4"
	  "\x07\x02"
	  "\x51\5\6\7\x09"),
	P("\x03"),
	P("\x0b"),
	P("\x53"),
	P("\xfb"),
	P("\x07\x02"),
	P("\xff\x7e"),
	P("\x07\x03\x04"),
	P("\xff\xff\xff\x02"),
	P("\x04"),
	P("\x06"),
	P("\x10"),
	P("\x16"),
	P("\x80"),
	P("\xc0"),
	P("\xfe"),
	P("\0"),
	P("\0\0\0"),
	P("\x02\xa3\0\0\0\0\0\x80"),
	P("\x02\xa3\x01\0\0\0\0\x80"),
	P("\x02\xa3\x01\0\0\0\0\0"),
	P("\x02\x32"
	  "abcdefgh"),
	P("\x6d\1\2\3\4\5\x86"),
	P("\x0d"),
	P("\x11"),
	P("\x3d\x05\x06"),
	P("\x1d"),
	P("\x02\xb2"
	  "ijklmnop"),
	P("\x02\x03\x20\0"),
	P("\x02\x03\x10\0"),
	P("\x02\xf3"),
	P("\x19\0\x20\0\0\0\0\0"),
	P("\x59\x07"),
	P(BEGIN),
#undef P
};
#define KINDS  (sizeof(packets) / sizeof(packets[0]))
#define SHORT  2  /* of them, take 3 bytes a row */
#define PLAIN  33 /* may be gathered */
#define COMMON 38 /* come often */

/* In each second trace more than a batch of rows comes in one go, in each fourth of the shortest. */
static unsigned choose(unsigned seed)
{
	if (seed % 2 && random() % 1000)
		return random() % (seed % 4 == 3 ? SHORT : PLAIN);
	return random() % (random() % 20 ? COMMON : KINDS);
}

static size_t write_trace(uint8_t *to, unsigned seed, bool late)
{
	size_t n = sizeof(BEGIN) - 1;

	memcpy(to, late ? LATE : BEGIN, n);
	srandom(seed);
	for (unsigned i = 0; i < PACKETS - 1; i++) {
		unsigned k = choose(i < PACKETS / 8 ? 0 : seed);

		memcpy(to + n, packets[k].bytes, packets[k].size);
		n += packets[k].size;
	}
	return n;
}

static void add(struct log *log, struct told t, struct before before)
{
	if (t.step != ROW_WORD && t.step != ROW_BRANCH && t.step != ROW_ENTER)
		return;
	log->before[log->n] = before;
	log->at[log->n++] = t;
}

static void add_rows(struct log *log, const struct rows *rows)
{
	for (unsigned i = 0; i < rows->n; i++) {
		const struct row *row = &rows->at[i];

		add(log, (struct told){ row->kind, row->ip, rows_ns(rows, row), rows_cycles(rows, row) },
		    (struct before){ 0 });
	}
	log->gathered += rows->n;
	log->full += rows->n > ROWS_MAX / 2;
}

/* Steps earlier than `quiet` ticks behind the last one need not be told. */
static void walk(const uint8_t *bytes, size_t size, bool gathers, uint64_t quiet, struct log *log)
{
	struct pt_walk walk, *w = &walk;
	struct rows rows = { .counts = ~0ull };
	struct before last = { 0 };
	enum pt_step step;

	pt_walk_init(w, &clocks, true);
	w->tips = true;
	w->rows = gathers ? &rows : NULL;
	log->n = log->gathered = log->full = 0;
	pt_walk_chunk(w, bytes, bytes + size, 0x1000, true);
	while ((step = pt_walk_next(w)) != STEP_END) {
		if (w->passed.stamp)
			last = (struct before){ w->passed.stamp, w->passed.core };
		if (step == STEP_ROWS) {
			add_rows(log, w->rows);
		} else {
			add(log, (struct told){ step, w->word, tsc_ns(&clocks.conv, w->stamp), w->core }, last);
			last = (struct before){ w->stamp, w->core };
		}
		assert_true(!w->passed.stamp || w->passed.stamp < w->quiet_until);
		w->passed.stamp = 0;
		w->quiet_until = w->stamp + quiet;
	}
}

static void compare(const struct log *many, const struct log *one)
{
	assert_int_equal(many->n, one->n);
	assert_memory_equal(many->at, one->at, one->n * sizeof(one->at[0]));
	for (unsigned i = 0; i < one->n; i++)
		if (many->before[i].stamp)
			assert_memory_equal(&many->before[i], &one->before[i], sizeof(one->before[i]));
}

static void test_equal(void **state)
{
	static struct log one, many;
	static uint8_t bytes[MOST];
	static const uint64_t quiet[] = { 0, 1, 50, 4000, 1 << 30, 1ull << 62 };
	unsigned gathered = 0, full = 0;

	(void)state;
	for (unsigned seed = 0; seed < 40; seed++) {
		size_t size = write_trace(bytes, seed, seed % 8 > 3);

		walk(bytes, size, false, 0, &one);
		assert_true(one.n > PACKETS / 5);
		for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
			walk(bytes, size, true, quiet[i], &many);
			compare(&many, &one);
		}
		gathered += many.gathered;
		full += many.full;
	}
	assert_true(gathered > 40 * PACKETS / 8); /* nearly all that can be */
	assert_true(full > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
