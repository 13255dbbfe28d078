/* SPDX-License-Identifier: MIT */
/* test_options.c - command lines of ocular-record, valid and invalid. */
#include <fcntl.h>
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/options.h"

#define USAGE 2

static const struct {
	char *argv[8];
	int ret;
	struct options expected;
} lines[] = {
	{ { "-o", "d", "--", "prog", "-x" }, OPTIONS_RUN, { .dir = "d", .ring_records = 131072, .wait_ms = 10000 } },
	{ { "prog", "-o", "x" }, OPTIONS_RUN, { .dir = "ocular.data", .ring_records = 131072, .wait_ms = 10000 } },
	{ { "-q", "--ring-records", "256", "--wait-ms=0", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .ring_records = 256, .quiet = true } },
	{ { "--output=d", "--serve" },
	  OPTIONS_RUN,
	  { .dir = "d", .ring_records = 131072, .wait_ms = 10000, .serve = true } },
	{ { "--flight", "10ms", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .flight = true, .ring_records = 131072, .flight_ns = 10000000 } },
	{ { "--flight=2s", "--ring-records=1024", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .flight = true, .ring_records = 1024, .flight_ns = 2000000000 } },
	{ { "--flight", "1h", "p" }, USAGE, { 0 } },
	{ { "--flight", "3600s", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .flight = true,
	    .ring_records = 1 << 20,
	    .flight_ns = 3600000000000 } },
	{ { "--flight", "3601s", "p" }, USAGE, { 0 } },
	{ { "--flight", "1M", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .flight = true, .ring_records = 65536 } },
	{ { "--flight", "256M", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .flight = true, .ring_records = 1 << 24 } },
	{ { "--flight", "257M", "p" }, USAGE, { 0 } },
	{ { "--flight", "0ms", "p" }, USAGE, { 0 } },
	{ { "--flight", "-1ms", "p" }, USAGE, { 0 } },
	{ { "--flight", "10", "p" }, USAGE, { 0 } },
	{ { "--flight", "ms", "p" }, USAGE, { 0 } },
	{ { "--flight", "1s", "--max-snapshots", "0", "p" }, USAGE, { 0 } },
	{ { "--duty", "5%", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .ring_records = 131072,
	    .duty_percent = 5,
	    .duty_window_ns = 100000000,
	    .duty_period_ns = 2000000000 } },
	{ { "--duty=0.5%", "--duty-window=20ms", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .ring_records = 131072,
	    .duty_percent = 0.5,
	    .duty_window_ns = 20000000,
	    .duty_period_ns = 4000000000 } },
	{ { "--duty", "5", "p" }, USAGE, { 0 } },
	{ { "--duty", "0%", "p" }, USAGE, { 0 } },
	{ { "--duty", "100%", "p" }, USAGE, { 0 } },
	{ { "--duty", "nan%", "p" }, USAGE, { 0 } },
	{ { "--duty", "-5%", "p" }, USAGE, { 0 } },
	{ { "--duty", "5%", "--duty-window", "61s", "p" }, USAGE, { 0 } },
	{ { "--duty", "5%", "--duty-window", "1M", "p" }, USAGE, { 0 } },
	{ { "--duty-window", "1ms", "p" }, USAGE, { 0 } },
	{ { "--duty", "5%", "--flight", "1s", "p" }, USAGE, { 0 } },
	{ { "--switch-output", "100M", "--switch-output=1h", "--switch-max-files", "5", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .ring_records = 131072,
	    .rotation = { .bytes = 100 << 20, .ns = 3600000000000, .files = 5 },
	    .max_size = UINT64_MAX } },
	{ { "--switch-output=signal", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .ring_records = 131072, .rotation = { .signal = true } } },
	{ { "--switch-output", "63K", "p" }, USAGE, { 0 } },
	{ { "--switch-output", "1", "p" }, USAGE, { 0 } },
	{ { "--switch-output", "0s", "p" }, USAGE, { 0 } },
	{ { "--switch-output", "99999999999999999d", "p" }, USAGE, { 0 } },
	{ { "--switch-output=signal", "--flight", "1s", "p" }, USAGE, { 0 } },
	{ { "--switch-max-files", "5", "p" }, USAGE, { 0 } },
	{ { "--switch-output=1h", "--switch-max-files", "0", "p" }, USAGE, { 0 } },
	{ { "--max-size", "500M", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .ring_records = 131072, .max_size = 500 << 20 } },
	{ { "--max-size=none", "--until-exit=main", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .ring_records = 131072,
	    .max_size = UINT64_MAX,
	    .until_main = true } },
	{ { "--max-size", "500", "p" }, USAGE, { 0 } },
	{ { "--max-size", "10s", "p" }, USAGE, { 0 } },
	{ { "--max-size", "63K", "p" }, USAGE, { 0 } },
	{ { "--max-size", "", "p" }, USAGE, { 0 } },
	{ { "--keep-last", "64M", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data",
	    .wait_ms = 10000,
	    .ring_records = 131072,
	    .max_size = UINT64_MAX,
	    .keep_last = 64 << 20 } },
	{ { "--keep-last", "1023K", "p" }, USAGE, { 0 } },
	{ { "--keep-last", "none", "p" }, USAGE, { 0 } },
	{ { "--keep-last", "1M", "--flight", "1s", "p" }, USAGE, { 0 } },
	{ { "--keep-last", "1M", "--switch-output", "1h", "p" }, USAGE, { 0 } },
	{ { "--until-exit", "child", "p" }, USAGE, { 0 } },
	{ { "--clock", "exact", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .ring_records = 131072 } },
	{ { "--clock=coarse", "p" },
	  OPTIONS_RUN,
	  { .dir = "ocular.data", .wait_ms = 10000, .ring_records = 131072, .coarse = true } },
	{ { "--clock", "16", "p" }, USAGE, { 0 } },
	{ { "--help" }, EXIT_SUCCESS, { 0 } },
	{ { 0 }, USAGE, { 0 } },
	{ { "--folder", "-o", "d" },
	  OPTIONS_RUN,
	  { .dir = "d", .ring_records = 131072, .wait_ms = 10000, .folder = true } },
	{ { "--serve", "--", "prog" }, USAGE, { 0 } },
	{ { "--folder", "prog" }, USAGE, { 0 } },
	{ { "--clocks", "prog" }, USAGE, { 0 } },
	{ { "--ring-records", "300", "p" }, USAGE, { 0 } },
	{ { "--ring-records", "128", "p" }, USAGE, { 0 } },
	{ { "--ring-records", "33554432", "p" }, USAGE, { 0 } },
	{ { "--wait-ms", "-1", "p" }, USAGE, { 0 } },
	{ { "--wait-ms", "1s", "p" }, USAGE, { 0 } },
	{ { "--wait-ms", "", "p" }, USAGE, { 0 } },
	{ { "--wait-ms", "99999999999999999999", "p" }, USAGE, { 0 } },
	{ { "--no-such", "p" }, USAGE, { 0 } },
	{ { "-o" }, USAGE, { 0 } },
};

/* What is said about wrong lines is not looked at here. */
static int silently(struct options *o, int argc, char **argv)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	int ret;

	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	optind = 0; /* glibc: begin anew */
	ret = options_parse(o, argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(null);
	return ret;
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct options *e = &lines[i].expected;
		char *argv[10] = { "ocular-record" };
		struct options o;
		int argc = 1, ret;

		for (; lines[i].argv[argc - 1]; argc++)
			argv[argc] = lines[i].argv[argc - 1];
		ret = silently(&o, argc, argv);
		if (ret != lines[i].ret)
			fail_msg("line %zu (%s ...): %d", i, argv[1] ? argv[1] : "", ret);
		if (ret != OPTIONS_RUN)
			continue;
		assert_string_equal(o.dir, e->dir);
		assert_int_equal(o.ring_records, e->ring_records);
		assert_int_equal(o.wait_ms, e->wait_ms);
		assert_int_equal(o.quiet, e->quiet);
		assert_int_equal(o.serve, e->serve);
		assert_int_equal(o.flight, e->flight);
		assert_int_equal(o.flight_ns, e->flight_ns);
		assert_int_equal(o.max_snapshots, 100);
		assert_int_equal(o.folder, e->folder);
		assert_int_equal(o.duty_window_ns, e->duty_window_ns);
		assert_int_equal(o.duty_period_ns, e->duty_period_ns);
		assert_memory_equal(&o.rotation, &e->rotation, sizeof(o.rotation));
		assert_int_equal(o.max_size, e->max_size);
		assert_int_equal(o.keep_last, e->keep_last);
		assert_int_equal(o.until_main, e->until_main);
		assert_int_equal(o.coarse, e->coarse);
		assert_int_equal(o.command == NULL, e->serve || e->folder);
	}
}

static void test_command_keeps_its_options(void **state)
{
	char *argv[] = { "ocular-record", "-q", "--", "prog", "-q", "--help", NULL };
	struct options o;

	(void)state;
	assert_int_equal(silently(&o, 6, argv), OPTIONS_RUN);
	assert_ptr_equal(o.command, &argv[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_command_keeps_its_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
