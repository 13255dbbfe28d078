/* SPDX-License-Identifier: MIT */
/* test_resumption.c - a resumption is shown only if it is certain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "model/objects.h"
#include "timeline/resumption.h"

static const struct code *const gen = (const struct code *)0x1000;
static const struct code *const other = (const struct code *)0x2000;
static const struct track *const t1 = (const struct track *)0x10, *const t2 = (const struct track *)0x20;
static struct resumption from;

static void test_one_is_sure(void **state)
{
	struct resumptions w = { 0 };

	(void)state;
	assert_int_equal(resumptions_yield(&w, gen, 36, t1, 500), 0);
	assert_int_equal(resumptions_yield(&w, other, 36, t2, 600), 0);
	assert_true(resumptions_resume(&w, gen, 38, &from));
	assert_ptr_equal(from.track, t1);
	assert_int_equal(from.shown, 500);
	assert_true(resumptions_resume(&w, other, 36, &from)); /* 3.12: PY_THROW is at the yield itself */
	assert_ptr_equal(from.track, t2);
	assert_false(resumptions_resume(&w, gen, 38, &from)); /* nobody is left */
	resumptions_free(&w);
}

/* Each goes on from its own latest yield; what has an address after it does not. */
static void test_objects(void **state)
{
	const struct object a = { .serial = 1, .address = 70 }, b = { .serial = 2, .address = 71 };
	const struct object after = { .serial = 3, .address = 70 };
	struct resumptions w = { 0 };

	(void)state;
	resumptions_yield_object(&w, &a, t1, 500);
	resumptions_yield_object(&w, &b, t1, 600);
	resumptions_yield_object(&w, &a, t2, 700);
	assert_int_equal(resumptions_resume_object(&w, &a)->shown, 700);
	assert_ptr_equal(resumptions_resume_object(&w, &a)->track, t2);
	assert_int_equal(resumptions_resume_object(&w, &b)->shown, 600);
	assert_null(resumptions_resume_object(&w, &after));
	resumptions_free(&w);
}

/* Which of two went on is not known; nor is it then who is left, until all are gone. */
static void test_two_are_not(void **state)
{
	struct resumptions w = { 0 };

	(void)state;
	resumptions_yield(&w, gen, 36, t1, 1);
	resumptions_yield(&w, gen, 36, t1, 2);
	assert_false(resumptions_resume(&w, gen, 38, &from));
	assert_false(resumptions_resume(&w, gen, 38, &from));
	resumptions_yield(&w, gen, 36, t1, 3);
	assert_true(resumptions_resume(&w, gen, 38, &from));
	assert_int_equal(from.shown, 3);
	resumptions_free(&w);
}

static void test_places_tell_apart(void **state)
{
	struct resumptions w = { 0 };

	(void)state;
	resumptions_yield(&w, gen, 36, t1, 1);
	resumptions_yield(&w, gen, 80, t2, 2);
	assert_false(resumptions_resume(&w, gen, 0, &from)); /* thrown into before it ever ran */
	assert_true(resumptions_resume(&w, gen, 82, &from));
	assert_int_equal(from.shown, 2);
	assert_true(resumptions_resume(&w, gen, 38, &from));
	assert_int_equal(from.shown, 1);
	resumptions_free(&w);
}

static void test_unknown_ones_count(void **state)
{
	struct resumptions w = { 0 };

	(void)state;
	resumptions_yield(&w, gen, 36, NULL, 0);
	assert_false(resumptions_resume(&w, gen, 38, &from));
	resumptions_yield(&w, gen, 36, NULL, 0);
	resumptions_yield(&w, gen, 36, t1, 5);
	assert_false(resumptions_resume(&w, gen, 38, &from));
	resumptions_free(&w);
}

static void test_nothing_is_sure_after_a_loss(void **state)
{
	struct resumptions w = { 0 };

	(void)state;
	resumptions_yield(&w, gen, 36, t1, 5);
	w.lost = true;
	assert_false(resumptions_resume(&w, gen, 38, &from));
	resumptions_yield(&w, gen, 36, t1, 6);
	assert_false(resumptions_resume(&w, gen, 38, &from));
	resumptions_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_sure),	   cmocka_unit_test(test_objects),
		cmocka_unit_test(test_two_are_not),	   cmocka_unit_test(test_places_tell_apart),
		cmocka_unit_test(test_unknown_ones_count), cmocka_unit_test(test_nothing_is_sure_after_a_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
