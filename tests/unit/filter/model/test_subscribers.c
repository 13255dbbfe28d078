/* SPDX-License-Identifier: MIT */
/* test_subscribers.c - each callback reaches the sinks that have it, in order, up to the first error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "model/subscribers.h"

static char heard[16];

static int note(struct sink *s, const struct sample *gap)
{
	strcat(heard, s->error);
	return gap ? 0 : -1;
}

static const struct sink_ops hears_gaps = { .gap = note }, hears_both = { .gap = note, .sample = note },
			     hears_nothing = { 0 };

static void test_who_hears_what(void **state)
{
	struct sink c = { .ops = &hears_both, .error = "c" }, b = { .ops = &hears_nothing, .next = &c, .error = "b" };
	struct sink a = { .ops = &hears_gaps, .next = &b, .error = "a" };
	struct subscribers to = subscribers_of(&a, NULL);
	struct sample s = { 0 };

	(void)state;
	assert_int_equal(SUBSCRIBERS_CALL(&to, gap, &s), 0);
	assert_string_equal(heard, "ac");
	assert_int_equal(SUBSCRIBERS_CALL(&to, sample, &s), 0);
	assert_string_equal(heard, "acc");
	assert_null(to.first.enter);
	assert_int_equal(SUBSCRIBERS_CALL(&to, gap, NULL), -1);
	assert_string_equal(heard, "acca");
}

/* Loops are counted as soon as one has a use for them, and if there are no sinks. */
static void test_who_needs_no_loops(void **state)
{
	static const struct sink_ops needs_none = { .sample = note, .no_loops = true };
	struct sink c = { .ops = &hears_nothing }, b = { .ops = &needs_none }, a = { .ops = &needs_none, .next = &b };

	(void)state;
	assert_true(subscribers_of(&a, NULL).no_loops);
	b.next = &c;
	assert_false(subscribers_of(&a, NULL).no_loops);
	assert_false(subscribers_of(NULL, NULL).no_loops);
}

static uint64_t until(struct sink *s, int32_t pid, int32_t tid)
{
	return pid == 7 && tid == 8 ? s->error[0] : 0;
}

static const struct sink_ops patient = { .sample = note, .quiet_until = until };

static const struct sink_ops told = { .sample = note, .plain = note };

/* As long as all of them do without samples; who hears of none has no say, nor who is told of each beside them. */
static void test_until_when_it_is_quiet(void **state)
{
	struct sink d = { .ops = &hears_gaps, .error = "d" }, c = { .ops = &patient, .next = &d, .error = "c" };
	struct sink b = { .ops = &patient, .next = &c, .error = "b" };
	struct sink a = { .ops = &hears_both, .next = &b, .error = "a" };
	struct sink f = { .ops = &told, .next = &b, .error = "f" }, e = { .ops = &told, .next = &d, .error = "e" };
	struct subscribers two = subscribers_of(&b, NULL), all = subscribers_of(&a, NULL),
			   none = subscribers_of(&d, NULL), three = subscribers_of(&f, NULL);

	(void)state;
	assert_int_equal(subscribers_quiet_until(&two, 7, 8), 'b');
	assert_int_equal(subscribers_quiet_until(&two, 7, 9), 0);
	assert_int_equal(subscribers_quiet_until(&all, 7, 8), 0);
	assert_true(subscribers_quiet_until(&none, 7, 8) == UINT64_MAX);
	assert_int_equal(subscribers_quiet_until(&three, 7, 8), 'b');
	three = subscribers_of(&e, NULL);
	assert_true(subscribers_quiet_until(&three, 7, 8) == UINT64_MAX && three.first.sample == three.first.plain);
}

static void test_nobody(void **state)
{
	struct subscribers to = subscribers_of(NULL, NULL);
	struct sample s = { 0 };

	(void)state;
	assert_int_equal(SUBSCRIBERS_CALL(&to, segment, &s), 0);
}

/* --- parts of sinks */

static int make_part(struct sink **out, struct sink *of)
{
	static struct sink parts[2];

	if (of->error[0] == 'x')
		return -7;
	*out = &parts[of->error[0] - 'a'];
	**out = (struct sink){ .ops = of->ops };
	return 0;
}

static int join(struct sink *to, struct sink *part)
{
	strcat(heard, to->error);
	return part->of == to ? 0 : -1;
}

static void note_heard(struct sink *s)
{
	strcat(heard, s->of ? "p" : "w");
}

static const struct sink_ops divides = { .gap = note, .part = make_part, .heard = note_heard, .join = join };

/* All is counted as soon as one has a use for it, and if there are no sinks. */
static void test_who_needs_only_times(void **state)
{
	static const struct sink_ops needs_times = { .only_times = true };
	static const struct sink_ops has_parts = { .only_times = true, .part = make_part };
	struct sink d = { .ops = &has_parts }, c = { .ops = &hears_nothing };
	struct sink b = { .ops = &needs_times }, a = { .ops = &needs_times, .next = &b };

	(void)state;
	assert_true(subscribers_of(&a, NULL).only_times);
	b.next = &c;
	assert_false(subscribers_of(&a, NULL).only_times);
	b.next = &d;
	assert_false(subscribers_of(&a, NULL).only_times);
	assert_false(subscribers_of(NULL, NULL).only_times);
}

static void test_parts(void **state)
{
	struct sink d = { .ops = &hears_nothing, .error = "d" }, b = { .ops = &divides, .next = &d, .error = "b" };
	struct sink a = { .ops = &divides, .next = &b, .error = "a" }, *parts = NULL;
	struct subscribers to = subscribers_of(&a, NULL), of;

	(void)state;
	heard[0] = '\0';
	assert_false(subscribers_need_all(&to));
	assert_int_equal(subscribers_parts(&to, &parts), 0);
	assert_true(parts && parts->of == &a && parts->next->of == &b && !parts->next->next);
	of = subscribers_of(parts, NULL);
	subscribers_heard(&to);
	subscribers_heard(&of);
	assert_int_equal(subscribers_join(&of), 0);
	assert_string_equal(heard, "wwppab");
}

/* One that hears of events and has no part, and one that cannot be made. */
static void test_no_parts(void **state)
{
	struct sink c = { .ops = &hears_gaps, .error = "c" }, x = { .ops = &divides, .next = &c, .error = "x" };
	struct sink a = { .ops = &divides, .next = &x, .error = "a" }, *parts = NULL;
	struct subscribers to = subscribers_of(&a, NULL), none = subscribers_of(NULL, NULL);

	(void)state;
	assert_true(subscribers_need_all(&to));
	assert_false(subscribers_need_all(&none));
	assert_int_equal(subscribers_parts(&to, &parts), -7);
	assert_true(parts && parts->of == &a && !parts->next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_hears_what),
		cmocka_unit_test(test_who_needs_no_loops),
		cmocka_unit_test(test_who_needs_only_times),
		cmocka_unit_test(test_until_when_it_is_quiet),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_no_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
