/* SPDX-License-Identifier: MIT */
/* test_together.c - each reason to read a recording by one worker, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

#include "together.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* What Ocular's recorder writes. */
static const struct pt_config plain = {
	.timed = true, .converts = true, .emulated = true, .ptwrite = true, .cycles = true
};

static const char *why(const char *word, const struct pt_config *c, struct process *process)
{
	char copy[64], error[OPTIONS_ERROR], *words[] = { copy };
	struct options o;
	struct analysis a;
	const char *reason;

	strcpy(copy, word);
	assert_int_equal(options_parse(&o, 1, words, error), 0);
	assert_int_equal(analysis_open(&a, &o, NULL), 0);
	assert_int_equal(map_put(&a.codes.processes, 7, process), 0);
	reason = together_why(&a, &o, c);
	map_free(&a.codes.processes);
	analysis_close(&a);
	return reason;
}

static void test_none(void **state)
{
	static const char *const words[] = { "console=always",	"summary=/dev/null",   "opcode_pstats=/dev/null",
					     "counts=3",	"imports=yes",	       "processes=7",
					     "opcodes=time:5",	"html=/dev/null",      "pstats=/dev/null",
					     "pprof=/dev/null", "callgrind=/dev/null", "otlp=/dev/null" };
	struct process software = { .pid = 7, .backend = (char *)"software" };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		assert_null(why(words[i], &plain, &software));
}

/* Outputs that hear of single events, and parts of a recording. */
static void test_words(void **state)
{
	static const char *const words[] = {
		"events=/dev/null",  "perfetto=/dev/null", "event_columns=/dev/null",
		"objects=/dev/null", "bridges=yes",	   "by=process",
		"time=1,2",	     "thread=a",	   "function=f",
		"opcodes=chains:3",  "follow=yes",
	};
	struct process software = { .pid = 7, .backend = (char *)"software" };

	(void)state;
	for (size_t i = 0; i < COUNT(words); i++)
		assert_non_null(why(words[i], &plain, &software));
}

static void test_recordings(void **state)
{
	struct process software = { .pid = 7, .backend = (char *)"software" };
	struct process ptwrite = { .pid = 7, .backend = (char *)"ptwrite" }, untold = { .pid = 7 };
	struct process flight = software, duty = software;
	struct pt_config per_cpu = plain, overlaps = plain, packed = plain, switched = plain;

	(void)state;
	flight.flight = true;
	duty.duty.period_ns = 1;
	per_cpu.per_cpu = overlaps.may_overlap = packed.packed = switched.switched = true;
	assert_non_null(why("console=always", &plain, &ptwrite));
	assert_non_null(why("console=always", &plain, &untold));
	assert_non_null(why("console=always", &plain, &flight));
	assert_non_null(why("console=always", &plain, &duty));
	assert_non_null(why("console=always", &per_cpu, &software));
	assert_non_null(why("console=always", &overlaps, &software));
	assert_non_null(why("console=always", &packed, &software));
	assert_non_null(why("console=always", &switched, &software));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_recordings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
