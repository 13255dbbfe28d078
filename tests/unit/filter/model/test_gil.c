/* SPDX-License-Identifier: MIT */
/* test_gil.c - who had the GIL while others waited, from events and waits of three threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/gil.h"
#include "model/thread.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/*
 * Every 10 ns something happens to thread a, b or c: e an event, G it begins to wait for the GIL, g it has got it; S
 * and s: the same of a sleep, R and r of a wait for room in its ring; x what it does is not known any more.
 */
static const struct {
	const char *story;
	const char *held; /* by each of the three */
} rows[] = {
	{ "ae be ae", "0 0 0" },
	{ "ae bG ae bg", "20 0 0" },
	/* Two wait: it is counted for each. */
	{ "ae bG cG ae", "30 0 0" },
	/* It had no event after it got it. */
	{ "ae bG aR ar bg", "30 0 0" },
	{ "ae bG aS bg cG bS cg", "10 10 0" },
	{ "ae bG bg aG ce ae", "10 10 10" },
	/* It lets another have it, or waited in vain: that one has it still. */
	{ "ae bG aG bg au aG ag", "10 20 0" },
	{ "ae bG aG bg au aS bG bg", "10 10 0" },
	{ "ae bG bu bG ae bg", "30 0 0" },
	/* Nobody is known to have it. */
	{ "aG ae", "0 0 0" },
	{ "ae bG ax ce", "10 0 0" },
	{ "ae bG bx ae ae", "10 0 0" },
	/* After a sleep it has it, unless it waits for it then, or another has it. */
	{ "aS as bG be", "10 0 0" },
	{ "aS as aG bG be", "0 0 0" },
	{ "ce aS as bG be", "0 0 10" },
	/* A word is missing: it waits once. */
	{ "ae bG bG ae bg be", "30 0 0" },
};

static void happen(struct gil *g, struct thread *t, char what, uint64_t ns)
{
	enum wait_kind kind = strchr("Ggu", what) ? WAIT_FOR_GIL : strchr("Rr", what) ? WAIT_FOR_RING : WAIT_FOR_SLEEP;
	uint64_t place = what == 'u' ? MARKER_GIL_NOT_GOT : 0;

	if (what == 'e' && !t->holds_gil)
		gil_take(g, t, ns);
	else if (what == 'e')
		gil_until(g, ns);
	else if (what == 'x')
		gil_lose(g, t);
	else
		gil_word(g, t, marker_payload(marker_wait(kind, strchr("GSR", what)) | place), ns);
}

static void test_stories(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct thread threads[3] = { 0 };
		struct gil g = { 0 };
		char held[64];
		uint64_t ns = 0;

		for (const char *at = rows[i].story; *at; at += at[2] ? 3 : 2) {
			ns += 10;
			gil_until(&g, at[1] == 'x' ? ns : g.since_ns);
			happen(&g, &threads[at[0] - 'a'], at[1], ns);
		}
		snprintf(held, sizeof(held), "%d %d %d", (int)threads[0].gil_held_ns, (int)threads[1].gil_held_ns,
			 (int)threads[2].gil_held_ns);
		assert_string_equal(held, rows[i].held);
	}
}

static void test_times_that_go_back(void **state)
{
	struct thread a = { 0 }, b = { 0 };
	struct gil g = { 0 };

	(void)state;
	happen(&g, &a, 'e', 100);
	happen(&g, &b, 'G', 110);
	happen(&g, &a, 'e', 130);
	happen(&g, &a, 'e', 120);
	happen(&g, &b, 'g', 140);
	assert_int_equal(a.gil_held_ns, 30);
}

#define SIDES 3 /* the holder, and who waits, as numbers */

/* What the GIL is like after two words at one time, of threads a and b, in that order or the other one. */
static void play(const char *before, const uint64_t words[2], bool swapped, int result[SIDES])
{
	struct thread threads[3] = { 0 };
	struct gil g = { 0 };

	for (const char *at = before; *at; at += 2)
		happen(&g, &threads[at[0] - 'a'], at[1], 10);
	for (size_t i = 0; i < 2; i++) {
		size_t who = swapped ? 1 - i : i;

		if (!marker_is_extension(words[who])) {
			gil_take(&g, &threads[who], 20);
			threads[who].last_ns = 20;
		} else if (marker_kind(words[who]) == KIND_WAIT) {
			gil_word(&g, &threads[who], marker_payload(words[who]), 20);
		}
	}
	result[0] = g.holder ? (int)(g.holder - threads) : -1;
	result[1] = threads[0].wants_gil;
	result[2] = threads[1].wants_gil;
}

/* Each pair of words on which any order agrees, from whatever was before. */
static void test_order_matters(void **state)
{
	static const char *const befores[] = { "", "ae", "be", "ce", "aeaS", "cebG", "cebGaG", "bebS", "ceaSbS" };
	const uint64_t words[] = {
		marker_event(OP_PY_START, 0, 1, 0, 0), marker_wait(WAIT_FOR_GIL, true),
		marker_wait(WAIT_FOR_GIL, false),      marker_wait(WAIT_FOR_GIL, false) | MARKER_GIL_NOT_GOT,
		marker_wait(WAIT_FOR_SLEEP, true),     marker_wait(WAIT_FOR_SLEEP, false),
		marker_wait(WAIT_FOR_RING, false),     marker_cpu(true, false, false, 1),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(words) * COUNT(words); i++) {
		const uint64_t pair[2] = { words[i / COUNT(words)], words[i % COUNT(words)] };
		bool differ = false;

		for (size_t k = 0; k < COUNT(befores); k++) {
			int one[SIDES], other[SIDES];

			play(befores[k], pair, false, one);
			play(befores[k], pair, true, other);
			differ |= memcmp(one, other, sizeof(one)) != 0;
		}
		assert_int_equal(gil_order_matters(pair[0], pair[1]), differ);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stories),
		cmocka_unit_test(test_times_that_go_back),
		cmocka_unit_test(test_order_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
