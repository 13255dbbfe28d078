/* SPDX-License-Identifier: MIT */
/* test_spread.c - times of records that have none: in order, and on the right side of what is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/spread.h"

#define N    32u /* a ring of so many */
#define MASK (N - 1)
#define NONE RING_NO_TIME

struct look {
	uint64_t head, seen, left; /* 0: there was none */
};

/* Times as they are in the ring; what they are after two looks; how many of them are known then. */
static const struct row {
	const char *name;
	struct look look;
	uint64_t before[8], after[8], known;
} rows[] = {
	{ "all were read",
	  { 0 },
	  { 100, 110, 130, 131, 132, 133, 134, 135 },
	  { 100, 110, 130, 131, 132, 133, 134, 135 },
	  8 },
	{ "evenly",
	  { 0 },
	  { 100, NONE, NONE, NONE, 140, NONE, NONE, 170 },
	  { 100, 110, 120, 130, 140, 150, 160, 170 },
	  8 },
	{ "more than there are ticks",
	  { 0 },
	  { 100, NONE, NONE, NONE, 102, NONE, NONE, 102 },
	  { 100, 100, 100, 100, 102, 102, 102, 102 },
	  8 },
	{ "the newest wait",
	  { 0 },
	  { 100, NONE, 120, NONE, NONE, NONE, NONE, NONE },
	  { 100, 110, 120, NONE, NONE, NONE, NONE, NONE },
	  3 },
	{ "the first has none",
	  { 0 },
	  { NONE, NONE, 120, 130, 140, 150, 160, 170 },
	  { 120, 120, 120, 130, 140, 150, 160, 170 },
	  8 },
	{ "backwards",
	  { 0 },
	  { 100, NONE, 90, NONE, 110, 110, 110, 110 },
	  { 100, 100, 90, 100, 110, 110, 110, 110 },
	  8 },
	/* There were three when somebody looked, and so it was for a while. */
	{ "a look",
	  { 3, 130, 130 },
	  { 100, NONE, NONE, NONE, NONE, NONE, NONE, 1150 },
	  { 100, 110, 120, 334, 538, 742, 946, 1150 },
	  8 },
	{ "two looks: it was at rest, and is as fast again as before",
	  { 4, 1030, 2040 },
	  { 100, NONE, 120, NONE, NONE, NONE, NONE, 3000 },
	  { 100, 110, 120, 130, 2970, 2980, 2990, 3000 },
	  8 },
	{ "two looks: it was slower than before",
	  { 4, 124, 2980 },
	  { 100, NONE, 120, NONE, NONE, NONE, NONE, 3000 },
	  { 100, 110, 120, 122, 2985, 2990, 2995, 3000 },
	  8 },
	{ "two looks behind a time",
	  { 3, 130, 2980 },
	  { 100, NONE, 120, NONE, NONE, NONE, NONE, 3000 },
	  { 100, 110, 120, 2984, 2988, 2992, 2996, 3000 },
	  8 },
	{ "a look right before a time",
	  { 3, 130, 130 },
	  { 100, NONE, NONE, 9000, 9000, 9000, 9000, 9000 },
	  { 100, 110, 120, 9000, 9000, 9000, 9000, 9000 },
	  8 },
	{ "a look, and what a wait tells from before",
	  { 3, 5000, 6000 },
	  { 100, NONE, NONE, 130, 7500, 7500, 7500, 7500 },
	  { 100, 110, 120, 130, 7500, 7500, 7500, 7500 },
	  8 },
	{ "a look before the wait, and one after it began",
	  { 4, 130, 6000 },
	  { 100, NONE, 120, NONE, 140, 7500, 7500, 7500 },
	  { 100, 110, 120, 125, 140, 7500, 7500, 7500 },
	  8 },
	{ "a late look",
	  { 3, 5000, 6000 },
	  { 100, NONE, NONE, NONE, 140, 150, 160, 170 },
	  { 100, 110, 120, 130, 140, 150, 160, 170 },
	  8 },
	{ "an early look",
	  { 3, 90, 90 },
	  { 100, NONE, NONE, NONE, 140, 150, 160, 170 },
	  { 100, 100, 100, 120, 140, 150, 160, 170 },
	  8 },
	{ "no time, but one after a look",
	  { 3, 130, 130 },
	  { 100, NONE, NONE, NONE, NONE, NONE, NONE, NONE },
	  { 100, 110, 120, NONE, NONE, NONE, NONE, NONE },
	  3 },
};

/* The ring's place 0 is position `from`; nothing else than the eight records may be touched. */
static void check(const struct row *row, uint64_t from)
{
	struct ring_record ring[N];
	struct spread s = { .next = from };

	memset(ring, 0xff, sizeof(ring));
	for (unsigned int i = 0; i < 8; i++)
		ring[(from + i) & MASK].tsc = row->before[i];
	if (row->look.head) {
		spread_between(&s, ring, MASK, from + row->look.head);
		spread_look(&s, from + row->look.head, row->look.seen - 5, row->look.seen);
		spread_look(&s, from + row->look.head, row->look.left, row->look.left + 5); /* nothing new */
	}
	spread_between(&s, ring, MASK, from + 8);
	if (s.next != from + row->known)
		fail_msg("%s: %lu are known", row->name, s.next - from);
	for (unsigned int i = 0; i < N; i++) {
		uint64_t wanted = i < 8 ? row->after[i] : UINT64_MAX, is = ring[(from + i) & MASK].tsc;

		if (is != wanted)
			fail_msg("%s: record %u has %lu, not %lu", row->name, i, is, wanted);
	}
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		check(&rows[i], 0);
		check(&rows[i], 3 * N - 4); /* over the ring's end */
	}
}

/* Those that nothing follows: as far apart as the last ones, or at the time before them; never later than now. */
static void test_the_rest(void **state)
{
	static const struct {
		uint64_t pace, latest, after[3];
	} rests[] = {
		{ 10, 1000, { 130, 140, 150 } }, { 0, 1000, { 120, 120, 120 } }, { 10, 145, { 130, 140, 140 } },
		{ 10, 150, { 130, 140, 150 } },	 { 10, 110, { 120, 120, 120 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rests) / sizeof(*rests); i++) {
		struct ring_record ring[N] = { { 100, 0 }, { NONE, 0 }, { 120, 0 } };
		struct spread s = { 0 };

		spread_between(&s, ring, MASK, 6);
		assert_int_equal(s.next, 3);
		assert_int_equal(s.pace, 10);
		spread_rest(&s, ring, MASK, 6, rests[i].pace, rests[i].latest);
		assert_int_equal(s.next, 6);
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(ring[3 + k].tsc, rests[i].after[k]);
		assert_int_equal(ring[6].tsc, NONE);
	}
}

/* Each look releases what was there at the one before: a thread of one record a look is never further behind. */
static void test_a_slow_thread(void **state)
{
	struct ring_record ring[N] = { { 100, 0 } };
	struct spread s = { 0 };

	(void)state;
	spread_between(&s, ring, MASK, 1);
	for (uint64_t head = 2; head < N; head++) {
		spread_between(&s, ring, MASK, head);
		assert_int_equal(s.next, head - 1);
		spread_look(&s, head, head * 1000, head * 1000);
	}
	for (uint64_t i = 1; i < N - 2; i++) {
		assert_true(ring[i].tsc <= (i + 1) * 1000); /* it was there at that look, and not at the one before */
		assert_true(i == 1 || ring[i].tsc >= i * 1000);
	}
}

/* Whatever the times and looks: each record gets one, and none is before the one before it. */
static void test_never_backwards(void **state)
{
	uint64_t seed = 1, now = 1000, last = 0, taken = 0, head = 0;
	struct ring_record ring[N] = { { 0 } };
	struct spread s = { 0 };

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		for (uint64_t n = seed >> 33 & 7; n && head - taken < N; n--, head++) {
			now += seed >> (40 + n) & 15;
			ring[head & MASK].tsc = !head || ring_is_timed((head & MASK) * 16) || !(seed >> (20 + n) & 7)
							? now
							: NONE;
		}
		spread_between(&s, ring, MASK, head);
		now += seed >> 60;
		spread_look(&s, head, now, now);
		assert_true(head - s.next < RING_COARSE);
		for (; taken < s.next; taken++) {
			assert_true(ring[taken & MASK].tsc >= last && ring[taken & MASK].tsc <= now);
			last = ring[taken & MASK].tsc;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_the_rest),
		cmocka_unit_test(test_a_slow_thread),
		cmocka_unit_test(test_never_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
