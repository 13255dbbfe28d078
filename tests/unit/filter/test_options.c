/* SPDX-License-Identifier: MIT */
/* test_options.c - every key: the values it takes, and the error for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static int parse(struct options *o, const char *word, char *error)
{
	char *argv[] = { (char *)word };

	*error = '\0';
	return options_parse(o, 1, argv, error);
}

static void test_defaults(void **state)
{
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	assert_int_equal(options_parse(&o, 0, NULL, error), 0);
	assert_null(o.codes);
	assert_null(o.perfetto);
	assert_null(o.summary);
	assert_null(o.events);
	assert_int_equal(o.console, WHEN_AUTO);
	assert_int_equal(o.color, WHEN_AUTO);
	assert_int_equal(o.progress, WHEN_AUTO);
	assert_int_equal(o.loops, LOOPS_AUTO);
	assert_true(time_span_is_all(&o.time));
	assert_int_equal(o.status, -1);
	assert_false(o.help);
}

static void test_strings(void **state)
{
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	assert_int_equal(parse(&o, "codes=a dir/b=c", error), 0);
	assert_string_equal(o.codes, "a dir/b=c");
	assert_int_equal(parse(&o, "perfetto=-", error), 0);
	assert_string_equal(o.perfetto, "-");
	assert_int_equal(parse(&o, "summary=s", error), 0);
	assert_string_equal(o.summary, "s");
	assert_int_equal(parse(&o, "events=e", error), 0);
	assert_string_equal(o.events, "e");
	assert_int_equal(parse(&o, "pstats=p", error), 0);
	assert_string_equal(o.pstats, "p");
	assert_int_equal(parse(&o, "callgrind=c", error), 0);
	assert_string_equal(o.callgrind, "c");
	assert_int_equal(parse(&o, "bridges=yes", error), 0);
	assert_true(o.bridges);
	assert_int_equal(parse(&o, "bridges=no", error), 0);
	assert_false(o.bridges);
	assert_int_equal(parse(&o, "bridges=maybe", error), -EINVAL);
	assert_int_equal(parse(&o, "help", error), 0);
	assert_true(o.help);
}

static void test_numbers_and_choices(void **state)
{
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	assert_int_equal(parse(&o, "loops=0", error), 0);
	assert_int_equal(o.loops, 0);
	assert_int_equal(parse(&o, "loops=100000", error), 0);
	assert_int_equal(o.loops, 100000);
	assert_int_equal(parse(&o, "status=3", error), 0);
	assert_int_equal(o.status, 3);
	assert_int_equal(parse(&o, "console=always", error), 0);
	assert_int_equal(o.console, WHEN_ALWAYS);
	assert_int_equal(parse(&o, "color=never", error), 0);
	assert_int_equal(o.color, WHEN_NEVER);
	assert_int_equal(parse(&o, "progress=auto", error), 0);
	assert_int_equal(o.progress, WHEN_AUTO);
}

static void test_timeline(void **state)
{
	static const struct {
		const char *word;
		uint64_t ns, bytes;
	} words[] = {
		{ "min_duration=0ns", 0, 0 },	      { "min_duration=500ns", 500, 0 },
		{ "min_duration=10us", 10000, 0 },    { "min_duration=2ms", 2000000, 0 },
		{ "min_duration=3s", 3000000000, 0 }, { "max_size=16384", 0, 16384 },
		{ "max_size=16K", 0, 16384 },	      { "max_size=200M", 0, 200 << 20 },
		{ "max_size=3G", 0, 3ull << 30 },
	};
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++) {
		if (parse(&o, words[i].word, error))
			fail_msg("%s: %s", words[i].word, error);
		assert_true(o.min_duration == words[i].ns && o.max_size == words[i].bytes);
	}
	assert_int_equal(parse(&o, "iterations=slices", error), 0);
	assert_int_equal(o.iterations, ITERATIONS_SLICES);
	assert_int_equal(parse(&o, "iterations=none", error), 0);
	assert_int_equal(o.iterations, ITERATIONS_NONE);
	assert_int_equal(parse(&o, "iterations=instants", error), 0);
	assert_int_equal(o.iterations, ITERATIONS_INSTANTS);
}

static void test_window(void **state)
{
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	assert_int_equal(parse(&o, "time=1.5,@2.000000001", error), 0); /* test_time_span has the others */
	assert_int_equal(o.time.from.kind, TIME_SINCE);
	assert_true(o.time.from.ns == 1500000000);
	assert_int_equal(o.time.until.kind, TIME_CLOCK);
	assert_true(o.time.until.ns == 2000000001);
}

/* clang-format off */
/* What is wrong is quoted, and there is one line. */
static const char *const wrong[] = {
	"",	    "nonsense",	  "perfetto",	  "perfetto=",	"=x",		 "perfett=x",
	"loops=",   "loops=-1",	  "loops=1x",	  "loops=100001", "loops=99999999999999999999",
	"color=sometimes", "console=", "time=",	  "time=1",	"time=2,1",	 "time=1,1",
	"time=a,b", "time=@2,@1", "time=25:00,", "time=-1,2",  "time=1,2,3",	  "time=1 2",	"time=99999999999999,",
	"helpless", "help=yes",	  "iterations=", "iterations=all", "min_duration=", "min_duration=5",
	"min_duration=us", "min_duration=-1us", "min_duration=1.5us", "min_duration=99999999999999999999s",
	"max_size=", "max_size=16383", "max_size=0", "max_size=5T", "max_size=-16K", "max_size=M",
	"max_size=99999999999999G", "source_url=", "source_url=https://example.com/",
	"source_url=file:///{file}",
};
/* clang-format on */

static void test_wrong_words(void **state)
{
	struct options o;
	char error[OPTIONS_ERROR];

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		if (parse(&o, wrong[i], error) != -EINVAL)
			fail_msg("'%s' is taken", wrong[i]);
		assert_non_null(strstr(error, wrong[i]));
		assert_null(strchr(error, '\n'));
	}
}

static void test_when(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_true(options_when(WHEN_ALWAYS, fds[1]));
	assert_false(options_when(WHEN_AUTO, fds[1]));
	assert_false(options_when(WHEN_NEVER, fds[1]));
	close(fds[0]);
	close(fds[1]);
}

static size_t count_sinks(const char *a, const char *b)
{
	char *argv[] = { (char *)a, (char *)b };
	struct options o;
	struct sink *sinks, *next;
	char error[SINK_ERROR];
	size_t n = 0;

	assert_int_equal(options_parse(&o, !!a + !!b, argv, error), 0);
	assert_int_equal(options_sinks(&o, &sinks, error), 0);
	for (; sinks; sinks = next, n++) {
		next = sinks->next;
		sinks->ops->free(sinks);
	}
	return n;
}

static void test_sinks(void **state)
{
	(void)state;
	assert_int_equal(count_sinks(NULL, NULL), 2); /* the console, and the snapshots above it */
	assert_int_equal(count_sinks("console=never", NULL), 0);
	assert_int_equal(count_sinks("events=/dev/null", NULL), 1);
	assert_int_equal(count_sinks("events=/dev/null", "console=always"), 3);
	assert_int_equal(count_sinks("perfetto=/dev/null", "summary=/dev/null"), 2);
	assert_int_equal(count_sinks("pstats=/dev/null", NULL), 1);
	assert_int_equal(count_sinks("collapsed=/dev/null", "speedscope=/dev/null"), 2);
}

/* One that cannot be made: the others are taken back, and the error names the file. */
static void test_sink_that_cannot_be_made(void **state)
{
	char *argv[] = { "events=/dev/null", "summary=/no/such/folder/s.json" };
	struct options o;
	struct sink *sinks;
	char error[SINK_ERROR] = "";

	(void)state;
	assert_int_equal(options_parse(&o, 2, argv, error), 0);
	assert_int_equal(options_sinks(&o, &sinks, error), -ENOENT);
	assert_null(sinks);
	assert_non_null(strstr(error, "/no/such/folder/s.json"));
}

static const struct {
	const char *a, *b;
	const char *says; /* NULL: they are taken */
} pairs[] = {
	{ "summary=s.json", "perfetto=p.json", NULL },
	{ "summary=s.json", "summary=s.json", NULL }, /* the last one counts, as of any option */
	{ "summary=/dev/null", "perfetto=/dev/null", NULL },
	{ "summary=-", "perfetto=/dev/null", NULL },
	{ "summary=same.json", "perfetto=same.json",
	  "perfetto and summary cannot both be written to 'same.json': name two files" },
	{ "collapsed=same.txt", "speedscope=./same.txt",
	  "collapsed and speedscope cannot both be written to './same.txt': name two files" },
	{ "summary=-", "collapsed=-", "summary and collapsed cannot both be written to '-': name two files" },
};

static void test_one_file_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		char *argv[] = { (char *)pairs[i].a, (char *)pairs[i].b };
		struct options o;
		char error[OPTIONS_ERROR] = "";

		if (options_parse(&o, 2, argv, error) != (pairs[i].says ? -EINVAL : 0))
			fail_msg("%s %s: '%s'", pairs[i].a, pairs[i].b, error);
		assert_string_equal(error, pairs[i].says ? pairs[i].says : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers_and_choices),
		cmocka_unit_test(test_timeline),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_wrong_words),
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_sinks),
		cmocka_unit_test(test_one_file_each),
		cmocka_unit_test(test_sink_that_cannot_be_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
