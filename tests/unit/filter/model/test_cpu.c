/* SPDX-License-Identifier: MIT */
/* test_cpu.c - how long a thread was off a CPU, from words that may be missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/cpu.h"
#include "shared/marker.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* A thread's life: event at `n`, switched out, preempted, in, the segment's end (until). */
enum what { END, EVENT, OUT, PREEMPTED, IN, LOST_OUT, LOST_IN, ENDS, UNTIL };

/* clang-format off */
static const struct {
	const char *name;
	struct { enum what what; uint64_t ns; } steps[12];
	uint64_t off, waiting, tail; /* off.ns and off.waiting_ns in all, and off.ns since the last event */
} rows[] = {
	{ "it runs", { { EVENT, 10 }, { IN, 10 }, { EVENT, 90 } }, 0, 0, 0 },
	{ "it waits", { { EVENT, 10 }, { OUT, 20 }, { IN, 50 }, { EVENT, 90 } }, 30, 30, 0 },
	{ "it is preempted", { { EVENT, 10 }, { PREEMPTED, 20 }, { IN, 50 }, { EVENT, 90 } }, 30, 0, 0 },
	{ "one after the other",
	  { { EVENT, 10 }, { OUT, 20 }, { IN, 30 }, { PREEMPTED, 40 }, { IN, 45 }, { EVENT, 90 } }, 15, 10, 0 },
	{ "since the last event", { { EVENT, 10 }, { OUT, 20 }, { IN, 30 }, { OUT, 40 }, { IN, 45 } }, 15, 15, 15 },
	{ "still out", { { EVENT, 10 }, { OUT, 20 } }, 0, 0, 0 },
	{ "still out when the segment ends", { { EVENT, 10 }, { OUT, 20 }, { UNTIL, 70 } }, 50, 50, 50 },
	{ "and in later", { { EVENT, 10 }, { OUT, 20 }, { UNTIL, 70 }, { IN, 75 }, { EVENT, 80 } }, 55, 55, 0 },
	{ "the end of a wait is missing: it was over at the last event",
	  { { EVENT, 10 }, { OUT, 20 }, { EVENT, 60 }, { IN, 100 }, { EVENT, 110 } }, 40, 40, 0 },
	{ "its beginning is missing", { { EVENT, 10 }, { IN, 100 }, { EVENT, 110 } }, 0, 0, 0 },
	{ "between two ends", { { EVENT, 10 }, { OUT, 20 }, { IN, 30 }, { IN, 60 }, { EVENT, 70 } }, 10, 10, 0 },
	{ "told again", { { EVENT, 10 }, { OUT, 20 }, { OUT, 50 }, { IN, 60 }, { EVENT, 70 } }, 40, 40, 0 },
	{ "told again, and an event between",
	  { { EVENT, 10 }, { OUT, 20 }, { EVENT, 30 }, { PREEMPTED, 50 }, { IN, 60 }, { EVENT, 70 } }, 10, 0, 0 },
	{ "words are lost", { { EVENT, 10 }, { OUT, 20 }, { LOST_IN, 50 }, { OUT, 60 }, { IN, 70 }, { EVENT, 80 } },
	  10, 10, 0 },
	{ "words are lost while it is out", { { EVENT, 10 }, { OUT, 20 }, { LOST_OUT, 60 }, { IN, 70 }, { EVENT, 80 } },
	  10, 10, 0 },
	{ "switches are missing from there on",
	  { { EVENT, 10 }, { OUT, 20 }, { IN, 30 }, { OUT, 40 }, { ENDS, 50 }, { IN, 60 }, { OUT, 70 }, { IN, 80 },
	    { EVENT, 90 } }, 10, 10, 0 },
	{ "times that go back", { { EVENT, 50 }, { OUT, 20 }, { IN, 30 }, { OUT, 60 }, { IN, 40 }, { EVENT, 70 } },
	  0, 0, 0 },
	{ "a wait that began before the event it is after", { { EVENT, 50 }, { OUT, 20 }, { IN, 60 }, { EVENT, 70 } },
	  10, 10, 0 },
};
/* clang-format on */

static struct off step(struct cpu *c, enum what what, uint64_t ns, uint64_t last)
{
	static const uint64_t payloads[] = {
		[OUT] = 1,
		[PREEMPTED] = MARKER_CPU_PREEMPTED | 1,
		[IN] = MARKER_CPU_IN,
		[LOST_OUT] = MARKER_CPU_LOST,
		[LOST_IN] = MARKER_CPU_IN | MARKER_CPU_LOST,
		[ENDS] = MARKER_CPU_ENDS,
	};

	return what == UNTIL ? cpu_until(c, ns, last) : cpu_word(c, payloads[what], ns, last);
}

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct off off = { 0 };
		struct cpu c = { 0 };
		uint64_t last = 0;

		for (size_t k = 0; rows[i].steps[k].what; k++) {
			if (rows[i].steps[k].what == EVENT)
				last = rows[i].steps[k].ns;
			else
				off_add(&off, step(&c, rows[i].steps[k].what, rows[i].steps[k].ns, last));
		}
		if (off.ns != rows[i].off || off.waiting_ns != rows[i].waiting || cpu_tail(&c, last).ns != rows[i].tail)
			fail_msg("%s: off %lu, waiting %lu, since the last event %lu", rows[i].name, off.ns,
				 off.waiting_ns, cpu_tail(&c, last).ns);
	}
}

/* A thread that begins anew runs; that something is known of it remains. */
static void test_restart(void **state)
{
	struct cpu c = { 0 };

	(void)state;
	assert_false(c.known);
	cpu_word(&c, 1, 20, 10);
	assert_true(c.known);
	cpu_restart(&c);
	assert_true(c.known);
	assert_int_equal(cpu_word(&c, MARKER_CPU_IN, 100, 90).ns, 0);
	assert_int_equal(cpu_tail(&c, 10).ns, 0);
}

/* When it is on a CPU is not known any more, whatever comes. */
static void test_ends(void **state)
{
	struct cpu c = { 0 };

	(void)state;
	cpu_word(&c, MARKER_CPU_IN, 20, 10);
	cpu_word(&c, MARKER_CPU_ENDS, 30, 10);
	assert_false(c.known);
	cpu_word(&c, MARKER_CPU_IN, 40, 10);
	assert_false(c.known);
	cpu_restart(&c);
	cpu_word(&c, MARKER_CPU_IN, 50, 50);
	assert_false(c.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
