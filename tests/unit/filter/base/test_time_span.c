/* SPDX-License-Identifier: MIT */
/*
 * test_time_span.c - spans as people write them, and their place in a recording. The wall clock's answers are
 * those of `date`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/time_span.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define S	 1000000000ull

/*
 * A recording that began at 2026-03-28 23:30:00 in Berlin, an hour and a half before its clocks went forward at 2:00.
 */
#define FIRST (8000 * S)
#define BEGAN (1774737000 * S) /* TZ=Europe/Berlin date -d '2026-03-28 23:30' +%s */
#define OPEN  UINT64_MAX

static const struct {
	const char *text;
	uint64_t from, until;
} spans[] = {
	{ ",", 0, OPEN },
	{ "0,2", FIRST, FIRST + 2 * S },
	{ "1.5,2.000000001", FIRST + 1500000000, FIRST + 2000000001 },
	{ ",2", 0, FIRST + 2 * S },
	{ "3,", FIRST + 3 * S, OPEN },
	{ "18446744072,", FIRST + 18446744072 * S < FIRST ? OPEN : FIRST + 18446744072 * S, OPEN },
	{ "@1,@2", 1 * S, 2 * S },
	{ "@12345.678901234,@12345.678901235", 12345678901234, 12345678901235 },
	{ "@8001,2", FIRST + 1 * S, FIRST + 2 * S },
	{ "23:30,23:31", FIRST, FIRST + 60 * S },
	{ "23:30:01.25,23:59:60", FIRST + 1250000000, FIRST + 1800 * S },
	{ "22:00,", FIRST - 5400 * S, OPEN }, /* the day it began, though before that */
	{ "00:10,", FIRST + 2400 * S, OPEN }, /* the day after */
	{ "23:50,00:10", FIRST + 1200 * S, FIRST + 2400 * S },
	{ ",03:00", 0, FIRST + 9000 * S }, /* the hour after 1:59:59 is the third */
	{ "2026-03-29T03:00,2026-03-29 03:00:00.5", FIRST + 9000 * S, FIRST + 9000 * S + S / 2 },
	{ "1999-01-01T00:00,", 0, OPEN }, /* before its clock began */
};

static void test_spans(void **state)
{
	const struct wall wall = { BEGAN, 0 }, later = { BEGAN - 7 * S, FIRST - 7 * S };
	struct time_span span;
	uint64_t from, until;

	(void)state;
	for (size_t i = 0; i < COUNT(spans); i++) {
		if (!time_span_parse(&span, spans[i].text))
			fail_msg("'%s' is none", spans[i].text);
		assert_string_equal(span.text, spans[i].text);
		assert_int_equal(time_span_is_all(&span), !strcmp(spans[i].text, ","));
		for (int k = 0; k < 2; k++) {
			assert_int_equal(time_span_resolve(&span, FIRST, k ? &later : &wall, &from, &until), 0);
			if (from != spans[i].from || until != spans[i].until)
				fail_msg("%s: %" PRIu64 " to %" PRIu64, spans[i].text, from, until);
		}
	}
}

/* clang-format off */
static const char *const wrong[] = {
	"", "1", "2,1", "1,1", "a,b", "-1,2", "1,2,3", "1 2", "99999999999999,", "@", "@,", "@2,@1", "@-1,", "1:2:3:4,",
	"24:00,", "12:60,", "12:00:61,", "12:,", ":30,", "14:03 ,", "2026-03-29,", "2026-03-29T,", "2026-03T12:00,",
	"2026-03-29T12,", "1969-01-01T00:00,", "14:03@,", "1e3,", "1s,2s", "0x1,",
};
/* clang-format on */

static void test_wrong(void **state)
{
	struct time_span span;

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++)
		if (time_span_parse(&span, wrong[i]))
			fail_msg("'%s' is taken", wrong[i]);
}

static void test_unknown_wall_clock(void **state)
{
	struct time_span span;
	uint64_t from, until;

	(void)state;
	assert_true(time_span_parse(&span, "14:03,"));
	assert_int_equal(time_span_resolve(&span, FIRST, &(struct wall){ 0 }, &from, &until), -ENODATA);
	assert_true(time_span_parse(&span, "1,2"));
	assert_int_equal(time_span_resolve(&span, FIRST, &(struct wall){ 0 }, &from, &until), 0);
}

static void test_told(void **state)
{
	char text[160], small[8];

	(void)state;
	time_span_describe(text, sizeof(text), FIRST, FIRST + 61250000000, &(struct wall){ BEGAN + 5000000, 0 });
	assert_string_equal(text, "0 to 61.250000 s, 2026-03-28T23:30:00.005 to 23:31:01.255, "
				  "@8000.000000 to @8061.250000");
	time_span_describe(text, sizeof(text), 5, 5, &(struct wall){ 0 });
	assert_string_equal(text, "0 to 0.000000 s, @0.000000 to @0.000000");
	time_span_describe(small, sizeof(small), FIRST, FIRST, &(struct wall){ BEGAN, 0 });
	assert_string_equal(small, "0 to 0.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_unknown_wall_clock),
		cmocka_unit_test(test_told),
	};

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1); /* as in Berlin, without asking for its file */
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
