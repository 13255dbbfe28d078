// SPDX-License-Identifier: MIT
/* test_pt_words.c - words that are gathered are those that are told one by one, with the same time and cycles; of those
 * that are only looked through each is one of them, and all that are left out may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "pt/pt_walk.h"

#define BEGIN \
	"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x19\0\x10\0\0\0\0\0\x02\x03\x1c\0\x02\x23"
/* A TSC packet that doubles do not count one by one any more. */
#define LATE \
	"\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x19\x03\x10\0\0\0\0\x40\x02\x03\x1c\0\x02" \
	"\x23"
#define PACKETS 5000
#define MOST	(PACKETS * 32)
#define THREAD	1000 /* cycles of the thread before the trace */

struct told {
	uint64_t bits, ns, cycles;
};

struct log {
	bool skims; /* its cycles are ticks */
	unsigned n, gathered, full;
	struct told at[PACKETS];
};

/* Of a seed each, in turn: a tick is more than a nanosecond, some, less, as little as there is. */
static const struct tsc_conv convs[] = {
	{ .shift = 1, .mult = 3 },
	{ .shift = 0, .mult = UINT32_MAX, .zero = 7 },
	{ .shift = 31, .mult = 876543211, .zero = 1ull << 60 },
	{ .shift = 32, .mult = 1 },
	{ .shift = 32, .mult = UINT32_MAX, .zero = UINT64_MAX },
};
static struct pt_clocks clocks = { .max_ratio = 28, .mtc_shift = 3, .ctc_num = 7, .ctc_den = 2 };

static const struct {
	const char *bytes;
	uint8_t size;
} packets[] = {
#define P(text) \
	{ \
		text, sizeof(text) - 1 \
	}
	P("\x0b\x02\x32"
	  "abcdefgh"),
	P("\x57\x02\x02\x32"
	  "12345678"),
	P("\x57\x04\x02\x12"
	  "1234"),
	P("\x13\x02\x12"
	  "5678"),
	P("\x02\x12"
	  "9abc"),
	P("\x02\x32"
	  "ijklmnop"),
	P("\xff\xfe\x02\x32"
	  "87654321"),
	P("\x07\x03\x04\x02\x32"
	  "longcycl"),
	P("\x03\x02\x32"
	  "nocycles"),
	P("\x07\0\x02\x32"
	  "nocycle2"),
	P("\0"),
	P("\0\0\0\0\0\0"),
	P("\x0b"),
	P("\x03"),
	P("\x02\x92"
	  "abcd"),
	P("\x06"),
	P("\x02\x03\x10\0"),
	P("\x02\x03\x20\0"),
	P("\x02\x73\x05\0\0\x02\0"),
	P("\x59\x07"),
	P("\x59\x09"),
	P("\x19\0\x20\0\0\0\0\0"),
	P("\x02\xb2"
	  "qrstuvwx"
	  "\x3d\x05\x06"),
	P("\x02\xf3"),
	P(BEGIN),
#undef P
};
#define KINDS (sizeof(packets) / sizeof(packets[0]))
#define PLAIN 7 /* are gathered */
#define ROW   2 /* left out where words are only looked through */

static size_t write_trace(uint8_t *to, unsigned seed, bool late)
{
	size_t n = sizeof(BEGIN) - 1;

	memcpy(to, late ? LATE : BEGIN, n);
	srandom(seed);
	for (unsigned i = 0; i < PACKETS - 1; i++) {
		unsigned k = random() % (random() % (seed % 2 ? 2000 : 20) ? PLAIN : KINDS);

		memcpy(to + n, packets[k].bytes, packets[k].size);
		n += packets[k].size;
	}
	return n;
}

static void add(struct log *log, uint64_t bits, uint64_t ns, uint64_t cycles)
{
	log->at[log->n++] = (struct told){ bits, ns, cycles };
}

static void add_gathered(struct log *log, struct words *w, unsigned n)
{
	for (unsigned i = w->n; i < w->n + n; i++)
		add(log, w->bits[i], w->ns[i], w->cycles[i]);
	log->gathered += n;
	log->full += w->n + n == WORDS_MAX;
}

/* Nine of ten are events with a number. */
static size_t write_rows(uint8_t *to, unsigned seed)
{
	size_t n = sizeof(BEGIN) - 1;

	memcpy(to, BEGIN, n);
	srandom(seed);
	for (unsigned i = 0; i < PACKETS - 1; i++) {
		unsigned k = random() % (seed % 2 ? 10 : 400) ? ROW : random() % KINDS;

		memcpy(to + n, packets[k].bytes, packets[k].size);
		if (k == ROW)
			to[n + 4] = (uint8_t)random();
		n += packets[k].size;
	}
	return n;
}

/* A step as early as `until` ticks behind the last one may be told together with it. */
static void walk(const uint8_t *bytes, size_t size, struct words *room, uint64_t until, struct log *log)
{
	struct pt_walk *w = calloc(1, sizeof(*w));
	enum pt_step step;

	pt_walk_init(w, &clocks, false);
	w->words = room;
	w->thread = THREAD;
	w->skims = room && log->skims;
	w->ticks = log->skims;
	log->n = log->gathered = log->full = 0;
	pt_walk_chunk(w, bytes, bytes + size, 0x1000, true);
	while ((step = pt_walk_next(w)) != STEP_END) {
		if (step == STEP_WORDS) {
			assert_true(w->stamp < w->quiet_until);
			assert_int_equal(w->passed.stamp, w->stamp);
			add_gathered(log, room, w->gathered);
		}
		if (step == STEP_WORD)
			add(log, w->word, tsc_ns(&clocks.conv, w->stamp), log->skims ? w->stamp : w->core + THREAD);
		if (room)
			room->n = log->n % 2 ? 0 : WORDS_MAX / 2;
		w->passed.stamp = 0;
		w->quiet_until = w->stamp + until;
	}
	free(w);
}

static void test_equal(void **state)
{
	static struct log one, many;
	static struct words room;
	static uint8_t bytes[MOST];
	static const uint64_t until[] = { 0, 1, 50, 4000, 1 << 30, 1ull << 62 };
	unsigned gathered = 0, full = 0;

	(void)state;
	for (unsigned seed = 0; seed < 40; seed++) {
		size_t size = write_trace(bytes, seed, seed % 8 > 3);

		clocks.conv = convs[seed % (sizeof(convs) / sizeof(convs[0]))];
		walk(bytes, size, NULL, 0, &one);
		assert_true(one.n > PACKETS / 2);
		assert_int_equal(one.gathered, 0);
		for (size_t i = 0; i < sizeof(until) / sizeof(until[0]); i++) {
			walk(bytes, size, &room, until[i], &many);
			assert_int_equal(many.n, one.n);
			assert_memory_equal(many.at, one.at, one.n * sizeof(one.at[0]));
			gathered += many.gathered;
			full += many.full;
		}
	}
	assert_true(gathered > 40 * PACKETS * 2);
	assert_true(full > 20);
}

static bool is_number(const struct told *word)
{
	return !(word->bits >> 32);
}

/* Of the words from *at on the next one of those that were told of a trace that was looked through. */
static void check_skimmed(const struct log *one, unsigned *at, const struct log *few, unsigned i)
{
	const struct told *told = &few->at[i];
	bool passed = told->bits >> 32 == WORDS_PASSED >> 32;

	if (passed)
		assert_true(i && is_number(&few->at[i - 1]));
	for (; passed && one->at[*at].cycles != told->cycles; ++*at) {
		assert_true(is_number(&one->at[*at]));
		assert_true(one->at[*at].cycles - one->at[*at - 1].cycles <= WORDS_PASSED_TICKS);
	}
	/* Words of one time: the last one of them. */
	for (; passed && *at + 1 < one->n && one->at[*at].bits != (uint32_t)told->bits; ++*at)
		assert_int_equal(one->at[*at + 1].cycles, told->cycles);
	assert_int_equal(one->at[*at].cycles, told->cycles);
	assert_int_equal(one->at[*at].bits, passed ? (uint32_t)told->bits : told->bits);
	++*at;
}

static void test_skim(void **state)
{
	static struct log one, few;
	static struct words room;
	static uint8_t bytes[MOST];
	static const uint64_t until[] = { 0, 50, 4000, 100000, 1ull << 62 };
	unsigned told = 0, all = 0;

	(void)state;
	clocks.conv = convs[0];
	one.skims = few.skims = true;
	for (unsigned seed = 0; seed < 40; seed++) {
		size_t size = write_rows(bytes, seed);

		walk(bytes, size, NULL, 0, &one);
		for (size_t i = 0; i < sizeof(until) / sizeof(until[0]); i++) {
			unsigned at = 0;

			walk(bytes, size, &room, until[i], &few);
			for (unsigned k = 0; k < few.n; k++)
				check_skimmed(&one, &at, &few, k);
			assert_int_equal(at, one.n);
			told += until[i] > 50 ? few.n : 0;
			all += until[i] > 50 ? one.n : 0;
		}
	}
	assert_true(told < all * 4 / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_skim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
