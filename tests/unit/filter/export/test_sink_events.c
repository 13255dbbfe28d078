/* SPDX-License-Identifier: MIT */
/* test_sink_events.c - lines are as long as the names in them, and feed.c reads what is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "feed.h"
#include "export/sink_events.h"

#define LINES 300 /* a buffer and more */
#define PLACE "5\t1\t2\tINSTRUCTION\tf.py\tf\t3\t8\t\t"
#define REST  "\t\t\n" /* no object, no task */

static char *repeated(char c, size_t n)
{
	char *s = calloc(1, n + 1);

	assert_non_null(s);
	return memset(s, c, n);
}

static bool is_followed(const char *line, const char *wanted)
{
	size_t n = strlen(wanted);

	return !strncmp(line, wanted, n) && !strcmp(line + n, REST);
}

/* LINES of one INSTRUCTION, whose opcode has this name; the file's lines must all be `wanted`. */
static void check(const char *opname, const char *wanted)
{
	char path[] = "/tmp/ocular-test-events-XXXXXX", error[SINK_ERROR] = "", *line = NULL;
	struct process p = { .opnames[9] = (char *)opname };
	struct code code = { .file = "f.py", .qualname = "f", .firstlineno = 3, .process = &p };
	struct sample s = { .op = OP_INSTRUCTION,
			    .opcode = 9,
			    .pid = 1,
			    .tid = 2,
			    .time = 5,
			    .code = &code,
			    .offset = 8,
			    .target = SAMPLE_NOWHERE };
	struct sink_options o = { .path = path };
	size_t room = 0, n = 0;
	struct sink *sink;
	FILE *f;

	close(mkstemp(path));
	assert_int_equal(sink_events_open(&sink, &o, error), 0);
	for (int i = 0; i < LINES; i++)
		assert_int_equal(sink->ops->sample(sink, &s), 0);
	assert_int_equal(sink->ops->finish(sink, NULL), 0);
	sink->ops->free(sink);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_true(getline(&line, &room, f) > 0);
	assert_string_equal(line, EVENTS_TITLE "\n");
	for (; getline(&line, &room, f) > 0; n++)
		if (strncmp(line, PLACE, strlen(PLACE)) || !is_followed(line + strlen(PLACE), wanted))
			fail_msg("line %zu: %.80s", n, line);
	assert_int_equal(n, LINES);
	fclose(f);
	free(line);
	unlink(path);
}

static void test_opcodes_of_any_length(void **state)
{
	static const size_t lengths[] = { 1, 100, 5000, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char *name = repeated('F', lengths[i]);

		check(name, name);
		free(name);
	}
}

static void test_opcodes_are_escaped(void **state)
{
	(void)state;
	check("a\tb\nc\\d", "a\\tb\\nc\\\\d");
	check("\x1b[2J\x01\x7f\xc2\x9b", "\\x1b[2J\\x01\\x7f\\x9b");
	check("\xe2\x80\xae\xc3\xa9\xd8\x9c", "\\u202e\xc3\xa9\\u061c");
}

struct taken {
	struct sample s[8];
	size_t n;
};

static int take(void *to, const struct sample *s)
{
	struct taken *t = to;

	t->s[t->n++] = *s;
	return 0;
}

/* What is no event of code comes back as it was: both ends of a segment among it. */
static void test_read_back(void **state)
{
	static const struct sample samples[] = {
		{ .op = SAMPLE_GAP, .count = 42, .target = SAMPLE_NOWHERE },
		{ .op = SAMPLE_FOREIGN, .count = 1, .target = SAMPLE_NOWHERE },
		{ .op = OP_SNAPSHOT, .number = 7, .ends = false, .target = SAMPLE_NOWHERE },
		{ .op = OP_SNAPSHOT, .number = 7, .ends = true, .target = SAMPLE_NOWHERE },
		{ .op = OP_EXTENSION, .kind = 9, .payload = (1ull << 48) - 1, .target = SAMPLE_NOWHERE },
	};
	size_t n = sizeof(samples) / sizeof(samples[0]);
	char path[] = "/tmp/ocular-test-events-XXXXXX", error[SINK_ERROR] = "";
	struct sink_options o = { .path = path };
	struct taken taken = { 0 };
	struct codes codes;
	struct sink *sink;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(sink_events_open(&sink, &o, error), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(sink->ops->sample(sink, &samples[i]), 0);
	assert_int_equal(sink->ops->finish(sink, NULL), 0);
	sink->ops->free(sink);
	f = fopen(path, "r");
	assert_int_equal(codes_init(&codes, NULL), 0);
	assert_int_equal(feed_file(f, &codes, take, &taken, error, sizeof(error)), 0);
	assert_int_equal(taken.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(taken.s[i].op, samples[i].op);
		assert_int_equal(taken.s[i].opcode, samples[i].opcode);
		assert_int_equal(taken.s[i].count, samples[i].count);
		assert_int_equal(taken.s[i].offset, samples[i].offset);
		assert_int_equal(taken.s[i].target, samples[i].target);
	}
	codes_free(&codes);
	fclose(f);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opcodes_of_any_length),
		cmocka_unit_test(test_opcodes_are_escaped),
		cmocka_unit_test(test_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
