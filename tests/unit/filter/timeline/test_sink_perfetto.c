/* SPDX-License-Identifier: MIT */
/*
 * test_sink_perfetto.c - what the golden traces cannot express: interpreters on one thread, unknown
 * threads, times that run backwards, an output that cannot be written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/profile.h"
#include "timeline/sink_perfetto.h"

static char path[] = "/tmp/ocular-test-perfetto-XXXXXX";
static struct codes codes;
static struct code *f, *g;

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	codes_init(&codes, NULL);
	f = codes_intern(codes_process(&codes, 1), "a.py", "f", 1);
	g = codes_intern(codes_process(&codes, 1), "a.py", "g", 2);
	return fd < 0 || close(fd);
}

static int teardown(void **state)
{
	(void)state;
	codes_free(&codes);
	return unlink(path);
}

static struct sink *open_sink(const char *name)
{
	struct sink_options o = { .path = name };
	struct sink *s = NULL;
	char error[SINK_ERROR];

	assert_int_equal(sink_perfetto_open(&s, &o, error), 0);
	return s;
}

static void enter(struct sink *s, struct activation *a)
{
	assert_int_equal(s->ops->enter(s, a), 0);
}

static void leave(struct sink *s, struct activation *a, uint64_t ns)
{
	assert_int_equal(s->ops->leave(s, a, LEAVE_RETURN, ns, ns), 0);
}

/* What is written, without the instants that tell of code objects and the first event. */
static char *finish(struct sink *s)
{
	struct profile p = { .codes = &codes };
	static char text[4096];
	char line[512];
	FILE *in;

	assert_int_equal(s->ops->finish(s, &p), 0);
	s->ops->free(s);
	in = fopen(path, "r");
	*text = '\0';
	while (fgets(line, sizeof(line), in))
		if (!strstr(line, "\"code\"") && !strstr(line, "process_labels"))
			strcat(text, line);
	fclose(in);
	return text;
}

#define IDS(tid)	    "\"pid\":1,\"tid\":" #tid ","
#define AT(ts, tid)	    "\"ts\":" #ts "," IDS(tid)
#define B(ts, tid, f, line) "{\"ph\":\"B\"," AT(ts, tid) "\"cat\":\"a.py:" #line "\",\"name\":\"" #f "\",\"args\":{}}"
#define E(ts, tid, f, args) "{\"ph\":\"E\"," AT(ts, tid) "\"name\":\"" #f "\",\"args\":{" args "}}"
#define CALLS(n)	    "\"calls\":" #n ","
#define CYCLES(n)	    "\"cycles\":" #n

static void test_interpreters_nest_on_one_track(void **state)
{
	struct sink *s = open_sink(path);
	struct activation outer = { .pid = 1, .tid = 2, .code = f, .op = OP_PY_START, .start_ns = 1000 };
	struct activation inner = {
		.pid = 1, .tid = 2, .interpreter = 3, .code = g, .op = OP_PY_START, .start_ns = 2000
	};

	(void)state;
	enter(s, &outer);
	enter(s, &inner);
	leave(s, &inner, 3000);
	leave(s, &outer, 4000);
	assert_string_equal(finish(s),
			    "[\n" B(0.000, 2, f, 1) ",\n" B(1.000, 2, g, 2) ",\n" E(2.000, 2, g, CYCLES(3000)) ",\n" E(
				    3.000, 2, f, CALLS(1) CYCLES(4000)) "\n]\n");
}

/* Another thread may begin before the first event seen; within a thread time may jump back. */
static void test_time_is_never_negative_nor_runs_back(void **state)
{
	struct sink *s = open_sink(path);
	struct activation a = { .pid = 1, .tid = 2, .code = f, .start_ns = 5000 };
	struct activation b = { .pid = 1, .tid = 3, .code = g, .start_ns = 4000 };

	(void)state;
	enter(s, &a);
	enter(s, &b);
	leave(s, &a, 4500);
	leave(s, &b, 5001);
	assert_string_equal(finish(s), "[\n" B(0.000, 2, f, 1) ",\n" B(0.000, 3, g, 2) ",\n" E(
					       0.000, 2, f, CYCLES(4500)) ",\n" E(0.001, 3, g, CYCLES(5001)) "\n]\n");
}

static void test_disk_full_ends_the_analysis(void **state)
{
	struct sink *s = open_sink("/dev/full");
	struct activation a = { .pid = 1, .tid = 2, .code = f };
	int err = 0;

	(void)state;
	for (int i = 0; i < 100000 && !err; i++) {
		a.start_ns = i;
		err = s->ops->enter(s, &a);
	}
	assert_int_equal(err, -ENOSPC);
	assert_string_equal(s->error, "cannot write /dev/full: No space left on device");
	s->ops->free(s);
}

static void test_unfinished_leaves_the_older_file(void **state)
{
	struct sink *s;
	char text[32] = "";
	FILE *file = fopen(path, "w");

	(void)state;
	fputs("older", file);
	fclose(file);
	s = open_sink(path);
	enter(s, &(struct activation){ .pid = 1, .tid = 2, .code = f });
	s->ops->free(s);
	file = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, "older");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_interpreters_nest_on_one_track),
		cmocka_unit_test(test_time_is_never_negative_nor_runs_back),
		cmocka_unit_test(test_disk_full_ends_the_analysis),
		cmocka_unit_test(test_unfinished_leaves_the_older_file),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
