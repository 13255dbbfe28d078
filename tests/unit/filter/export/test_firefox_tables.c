/* SPDX-License-Identifier: MIT */
/* test_firefox_tables.c - stacks and frames are there once, callers first; times are exact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "export/firefox_json.h"
#include "export/firefox_tables.h"

static struct codes codes;
static struct firefox_tables tables;
static char path[64];

static struct code *code_of(const char *qualname)
{
	return codes_intern(codes_process(&codes, 7), "m.py", qualname, 1);
}

static void test_stacks(void **state)
{
	int64_t f, fg, waiting;

	(void)state;
	codes_init(&codes, NULL);
	tables.codes = &codes;
	f = firefox_stack(&tables, STACKS_NONE, code_of("f"), FIREFOX_ANY);
	fg = firefox_stack(&tables, f, code_of("g"), FIREFOX_ANY);
	assert_int_equal(f, 0);
	assert_int_equal(fg, 1);
	assert_int_equal(firefox_stack(&tables, STACKS_NONE, code_of("g"), FIREFOX_ANY), 2);
	assert_int_equal(firefox_stack(&tables, f, code_of("g"), FIREFOX_ANY), fg);
	assert_int_equal(firefox_stack_in(&tables, fg, FIREFOX_ANY), fg);
	waiting = firefox_stack_in(&tables, fg, FIREFOX_WAITING);
	assert_int_equal(waiting, 3);
	assert_int_equal(tables.stacks.of[waiting].caller, f);
	assert_int_equal(firefox_stack_in(&tables, fg, FIREFOX_WAITING), waiting);
	assert_int_equal(tables.functions.n, 2);
	assert_int_equal(tables.nframes, 3); /* f; g, and g that waits */
	assert_int_equal(tables.stacks.n, 4);
	firefox_tables_free(&tables);
	codes_free(&codes);
}

/* What `put` writes of a number. */
static void check_number(void (*put)(struct out *out, uint64_t n), uint64_t n, const char *wanted)
{
	char error[256], text[64] = "";
	struct out out;
	FILE *f;

	assert_int_equal(out_open(&out, path, error, sizeof(error)), 0);
	put(&out, n);
	assert_int_equal(out_close(&out, error, sizeof(error)), 0);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(text, 1, sizeof(text) - 1, f), strlen(wanted));
	fclose(f);
	assert_string_equal(text, wanted);
}

static void test_times(void **state)
{
	(void)state;
	strcpy(path, "/tmp/firefox.XXXXXX");
	close(mkstemp(path));
	check_number(firefox_put_ms, 0, "0");
	check_number(firefox_put_ms, 1, "0.000001");
	check_number(firefox_put_ms, 100000, "0.1");
	check_number(firefox_put_ms, 1000000, "1");
	check_number(firefox_put_ms, 1020300, "1.0203");
	check_number(firefox_put_ms, 123456789, "123.456789");
	check_number(firefox_put_ms, UINT64_MAX, "18446744073709.551615");
	check_number(firefox_put_number, UINT64_MAX, "18446744073709551615");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stacks), cmocka_unit_test(test_times) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
