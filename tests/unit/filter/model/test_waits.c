/* SPDX-License-Identifier: MIT */
/* test_waits.c - waits by kind, and words without a beginning or an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/waits.h"
#include "shared/marker.h"

static enum wait_kind word(struct wait *w, unsigned kind, bool begins, uint64_t ns, struct wait_time *took)
{
	return wait_word(w, marker_payload(marker_wait(kind, begins)), ns, ns / 5, took);
}

static void test_words(void **state)
{
	struct wait w = { 0 };
	struct wait_time took;

	(void)state;
	assert_int_equal(word(&w, WAIT_FOR_GIL, false, 5, &took), 0); /* nothing had begun */
	assert_int_equal(word(&w, WAIT_FOR_GIL, true, 10, &took), 0);
	assert_int_equal(word(&w, WAIT_FOR_GIL, false, 25, &took), WAIT_FOR_GIL);
	assert_int_equal(took.ns, 15);
	assert_int_equal(took.waiting_ns, 3);			       /* from 10 / 5 to 25 / 5 */
	assert_int_equal(word(&w, WAIT_FOR_GIL, false, 30, &took), 0); /* once */
	assert_int_equal(word(&w, WAIT_FOR_LOCK, true, 40, &took), 0);
	assert_int_equal(word(&w, WAIT_FOR_GIL, false, 50, &took), 0); /* the end of another one */
	assert_int_equal(word(&w, WAIT_FOR_LOCK, true, 60, &took), 0);
	assert_int_equal(word(&w, WAIT_FOR_READ, true, 70, &took), 0); /* the first one's end is missing */
	assert_int_equal(word(&w, WAIT_FOR_READ, false, 65, &took), WAIT_FOR_READ);
	assert_int_equal(took.ns, 0);			     /* times go back */
	assert_int_equal(word(&w, 100, true, 80, &took), 0); /* of a later version */
	assert_int_equal(word(&w, 100, false, 90, &took), WAIT_FOR_OTHER);
	assert_int_equal(took.ns, 10);
	assert_int_equal(word(&w, 0, true, 100, &took), 0);
	assert_int_equal(word(&w, 0, false, 101, &took), WAIT_FOR_OTHER);
}

static void test_totals(void **state)
{
	struct waits one = { 0 };

	(void)state;
	assert_int_equal(waits_most(&one), 0);
	assert_int_equal(waits_ns(&one), 0);
	waits_add(&one, WAIT_FOR_LOCK, 10);
	waits_add(&one, WAIT_FOR_LOCK, 30);
	waits_add(&one, WAIT_FOR_GIL, 20);
	assert_int_equal(waits_most(&one), WAIT_FOR_LOCK);
	waits_add(&one, WAIT_FOR_GIL, 25);
	assert_int_equal(waits_most(&one), WAIT_FOR_GIL);
	assert_int_equal(waits_ns(&one), 85);
	assert_int_equal(one.of[WAIT_FOR_GIL].n, 2);
	assert_int_equal(one.of[WAIT_FOR_GIL].longest_ns, 25);
	assert_int_equal(one.of[WAIT_FOR_LOCK].longest_ns, 30);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(wait_name(WAIT_FOR_GIL), "gil");
	assert_string_equal(wait_name(WAIT_FOR_OTHER), "other");
	assert_string_equal(wait_name((enum wait_kind)100), "other");
	assert_string_equal(wait_name((enum wait_kind)0), "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
