/* SPDX-License-Identifier: MIT */
/* test_states.c - stretches of what a thread does, and of who has the GIL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "shared/marker.h"
#include "timeline/states.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* "name FROM..UNTIL@CPU" is added, if it is over. */
static void add(char *text, bool over, const struct stretch *s)
{
	if (!over)
		return;
	text += strlen(text);
	text += s->name ? sprintf(text, "%s", s->name) : sprintf(text, "%d", s->tid);
	text += sprintf(text, " %d..%d", (int)s->from, (int)s->until);
	if (s->cpu != STATES_NO_CPU)
		text += sprintf(text, "@%u", s->cpu);
	strcpy(text, "; ");
}

/*
 * > in, < out, ! preempted, ? in after a loss, e not known from here on; G and g: a wait for the GIL begins and ends,
 * S and s: a sleep.
 */
static void feed(struct states *st, char what, uint64_t ns, char *text)
{
	struct stretch done;
	uint64_t word = strchr("Gg", what) ? marker_wait(WAIT_FOR_GIL, what == 'G')
					   : marker_wait(WAIT_FOR_SLEEP, what == 'S');

	if (strchr("GgSs", what)) {
		add(text, states_wait(st, marker_payload(word), ns, &done), &done);
		return;
	}
	word = what == 'e' ? MARKER_CPU_ENDS : marker_cpu(strchr(">?", what), what == '!', what == '?', 3);
	add(text, states_cpu(st, marker_payload(word), ns, &done), &done);
}

static const struct {
	const char *words; /* one every 10 ns */
	const char *stretches;
} rows[] = {
	{ "", "" },
	{ ">", "running 10..99@3; " },
	{ "><>", "running 10..20@3; waiting 20..30; running 30..99@3; " },
	{ ">!>", "running 10..20@3; runnable 20..30; running 30..99@3; " },
	{ ">G<>g", "running 10..30@3; waiting: gil 30..40; running 40..99@3; " },
	{ ">G<>gS<>s",
	  "running 10..30@3; waiting: gil 30..40; running 40..70@3; waiting: sleep 70..80; running 80..99@3; " },
	/* The beginning of a chunk repeats what it was. */
	{ ">><<>", "running 10..30@3; waiting 30..50; running 50..99@3; " },
	/* Words are missing: it is not known until when it ran. */
	{ "><?", "running 10..20@3; running 30..99@3; " },
	/* Switches are not known any more. */
	{ ">e", "running 10..20@3; " },
	{ "><eGg", "running 10..20@3; waiting 20..30; waiting: gil 40..50; " },
	/* Switches are not known. */
	{ "GgSs", "waiting: gil 10..20; waiting: sleep 30..40; " },
	{ "gGSs", "waiting: sleep 30..40; " },
};

static void test_threads(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct states st = { 0 };
		struct stretch done;
		char text[512] = "";

		for (size_t n = 0; rows[i].words[n]; n++)
			feed(&st, rows[i].words[n], 10 * (n + 1), text);
		add(text, states_end(&st, 99, &done), &done);
		assert_string_equal(text, rows[i].stretches);
		assert_false(states_end(&st, 100, &done));
	}
}

static void test_unknown_kinds_are_other(void **state)
{
	struct states st = { 0 };
	struct stretch done;

	(void)state;
	assert_false(states_wait(&st, marker_payload(marker_wait((enum wait_kind)100, true)), 10, &done));
	assert_true(states_wait(&st, marker_payload(marker_wait((enum wait_kind)100, false)), 20, &done));
	assert_string_equal(done.name, "waiting: other");
}

static void test_who_lets_go(void **state)
{
	(void)state;
	assert_true(states_lets_go(marker_payload(marker_wait(WAIT_FOR_SLEEP, true))));
	assert_true(states_lets_go(marker_payload(marker_wait(WAIT_FOR_GIL, true))));
	assert_false(states_lets_go(marker_payload(marker_wait(WAIT_FOR_GIL, false))));
	assert_false(states_lets_go(marker_payload(marker_wait(WAIT_FOR_RING, true))));
}

static void test_holder(void **state)
{
	struct holder h = { 0 };
	struct stretch done;
	char text[256] = "";

	(void)state;
	add(text, holder_event(&h, 1, 10, &done), &done);
	add(text, holder_waits(&h, 1, 20, &done), &done); /* nobody else is there */
	add(text, holder_event(&h, 1, 30, &done), &done);
	add(text, holder_event(&h, 1, 35, &done), &done);
	add(text, holder_event(&h, 2, 40, &done), &done);
	add(text, holder_waits(&h, 1, 45, &done), &done); /* it has not got it */
	add(text, holder_waits(&h, 2, 50, &done), &done);
	add(text, holder_waits(&h, 2, 55, &done), &done);
	add(text, holder_event(&h, 1, 60, &done), &done);
	add(text, holder_event(&h, 2, 70, &done), &done);
	assert_string_equal(text, "1 30..40; 2 40..50; 1 60..70; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_unknown_kinds_are_other),
		cmocka_unit_test(test_who_lets_go),
		cmocka_unit_test(test_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
