/* SPDX-License-Identifier: MIT */
/*
 * test_sink_snapshots.c - the differences shown for a snapshot: which rows, and in which order.
 *
 * Words are  name+ a call, name- its end, name* a back-edge, [N and ]N a snapshot's begin and end;
 * +NS in front of one: so much later than the one before. All else is 10 ns apart.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "export/sink_snapshots.h"
#include "model/trace.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* Requests as a service has them: its loop calls what answers, and that what looks it up. */
#define REQUEST "answer+ query+ +100 query- answer- serve* "
#define BLOCKED "answer+ query+ +9000 query- answer- serve* "
#define LOOPED	"answer+ find+ find* +3000 find* +3000 find* +3000 find- answer- serve* "
#define OFTEN	"answer+ find+ find* +3000 tiny+ +900 tiny- find* +3000 tiny+ +900 tiny- find* find- answer- serve* "
#define USUAL	"[1 serve* " REQUEST REQUEST REQUEST REQUEST "]1 "

static const struct {
	const char *name, *events, *rows; /* rows of the snapshot that differs most */
} rows[] = {
	{ "a call that blocks", USUAL "[2 serve* " BLOCKED REQUEST "]2", "query" },
	{ "a loop that ran too often", USUAL "[2 serve* " LOOPED REQUEST "]2", "find *find" },
	{ "one that calls", USUAL "[2 serve* " OFTEN REQUEST "]2", "find *find tiny" },
	/* By name, wherever they are in memory. */
	{ "equal ones", USUAL "[2 serve* d+ +900 d- f+ +900 f- a+ +900 a- e+ +900 e- b+ +900 b- c+ +900 c- serve* ]2",
	  "a b c d e" },
	/* The loop of the service was never seen to turn elsewhere: its trips are no excess of its own. */
	{ "nothing usual to compare with", "[1 find+ find* +50 find* find- ]1 [2 serve* " REQUEST BLOCKED "]2",
	  "query serve *serve answer" },
};

static void feed_word(struct trace *t, struct codes *codes, const char *word, uint64_t ns)
{
	struct sample s = { .pid = 1, .tid = 1, .time = ns, .cycles = ns, .target = SAMPLE_NOWHERE, .op = OP_SNAPSHOT };
	char name[16], end = '\0';

	if (*word == '[' || *word == ']') {
		s.ends = *word == ']';
		s.number = strtoul(word + 1, NULL, 10);
	} else {
		assert_int_equal(sscanf(word, "%15[a-z]%c", name, &end), 2);
		s.code = codes_intern(codes_process(codes, 1), "a.py", name, 1);
		s.op = end == '+' ? OP_PY_START : end == '-' ? OP_PY_RETURN : OP_JUMP;
		s.offset = end == '*' ? 30 : 0;
		s.target = end == '*' ? 10 : SAMPLE_NOWHERE;
	}
	assert_int_equal(trace_feed(t, &s), 0);
}

static void feed(struct trace *t, struct codes *codes, const char *events)
{
	char copy[512], *rest = NULL;
	uint64_t ns = 1000;

	assert_in_range(strlen(events), 1, sizeof(copy) - 1);
	strcpy(copy, events);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (*word == '+') {
			ns += strtoul(word, NULL, 10);
			continue;
		}
		feed_word(t, codes, word, ns);
		ns += 10;
	}
}

/* The names of the first block's rows, a loop's with a star. */
static void names(FILE *f, char *to, size_t size)
{
	char line[256], name[16];
	int block = 0;

	*to = '\0';
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, ", a.py:");

		block += !strncmp(line, "Snapshot ", 9);
		if (!at || block != 1)
			continue;
		while (at > line && at[-1] != ' ')
			at--;
		assert_int_equal(sscanf(at, "%15[a-z]", name), 1);
		snprintf(to + strlen(to), size - strlen(to), "%s%s%s", *to ? " " : "",
			 strstr(line, "loop in ") ? "*" : "", name);
	}
}

static void check(size_t row, const char *path)
{
	struct sink_options o = { .path = path };
	char error[SINK_ERROR], text[256];
	struct codes codes;
	struct sink *sink;
	struct trace t;
	FILE *f;

	codes_init(&codes, NULL);
	assert_int_equal(sink_snapshots_open(&sink, &o, error), 0);
	trace_init(&t, &codes, sink);
	feed(&t, &codes, rows[row].events);
	assert_int_equal(trace_finish(&t, false), 0);
	trace_free(&t);
	codes_free(&codes);
	f = fopen(path, "r");
	names(f, text, sizeof(text));
	fclose(f);
	if (strcmp(text, rows[row].rows))
		fail_msg("%s: got '%s', want '%s'", rows[row].name, text, rows[row].rows);
}

/* A trigger is a text of the recording: it may not tell a terminal what to do. */
static void test_title(void **state)
{
	char path[] = "/tmp/ocular-test-snapshots-XXXXXX", line[256];
	struct sink_options o = { .path = path };
	char error[SINK_ERROR];
	struct codes codes;
	struct sink *sink;
	struct trace t;
	int fd = mkstemp(path);
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	codes_init(&codes, NULL);
	codes.snapshots = calloc(codes.nsnapshots = 1, sizeof(*codes.snapshots));
	codes.snapshots[0] =
		(struct snapshot){ .number = 1, .trigger = strdup("slow\x1b[2J"), .label = strdup("in\nner") };
	assert_int_equal(sink_snapshots_open(&sink, &o, error), 0);
	trace_init(&t, &codes, sink);
	feed(&t, &codes, "[1 find+ find- ]1");
	assert_int_equal(trace_finish(&t, false), 0);
	trace_free(&t);
	codes_free(&codes);
	f = fopen(path, "r");
	while (fgets(line, sizeof(line), f) && strncmp(line, "Snapshot ", 9))
		;
	assert_non_null(strstr(line, ": in\\x0aner (slow\\x1b[2J)\n"));
	fclose(f);
	close(fd);
	unlink(path);
}

static void test_rows(void **state)
{
	char path[] = "/tmp/ocular-test-snapshots-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < COUNT(rows); i++)
		check(i, path);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_title) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
