/* SPDX-License-Identifier: MIT */
/* test_feed.c - lines of the events text: good ones become samples, others are refused with their number.
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

#include "feed.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define TITLE	 "# ocular events 1\n"

struct taken {
	struct sample last;
	unsigned n;
	int refuse;
};

static int take(void *to, const struct sample *s)
{
	struct taken *t = to;

	t->last = *s;
	t->n++;
	return t->refuse;
}

static int feed_text(const char *text, struct codes *codes, struct taken *t, char error[256])
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	int err;

	*error = '\0';
	*t = (struct taken){ .refuse = t->refuse };
	assert_non_null(f);
	assert_int_equal(codes_init(codes, NULL), 0);
	err = feed_file(f, codes, take, t, error, 256);
	fclose(f);
	return err;
}

static const struct {
	const char *line;
	unsigned op;
	const char *file, *qualname;
	int64_t offset, target;
	uint64_t count;
} good[] = {
	{ "5\t1\t2\tPY_START\ta.py\tf\t3\t0\t", OP_PY_START, "a.py", "f", 0, -1, 0 },
	{ "5\t1\t2\tJUMP\ta.py\tf\t3\t40\t10", OP_JUMP, "a.py", "f", 40, 10, 0 },
	{ "5\t1\t2\tLINE\ta.py\tf\t3\t4711\t", OP_LINE, "a.py", "f", 4711, -1, 0 },
	{ "5\t1\t2\tPY_START\ta\\tb\\nc\\rd\\\\e.py\t\\x\t3\t0\t", OP_PY_START, "a\tb\nc\rd\\e.py", "\\x", 0, -1, 0 },
	{ "5\t1\t2\tPY_START\t\t\t0\t0\t", OP_PY_START, "", "", 0, -1, 0 },
	{ "5\t1\t2\tPY_YIELD\ta.py\tf\t3\t8\t\t\t12", OP_PY_YIELD, "a.py", "f", 8, -1, 12 },
	{ "5\t1\t2\tPY_RESUME\ta.py\tf\t3\t8\t\t\t12\ttask", OP_PY_RESUME, "a.py", "f", 8, -1, 12 },
	{ "5\t1\t2\tGAP\t\t\t\t42\t", SAMPLE_GAP, NULL, NULL, 0, -1, 42 },
	{ "5\t1\t2\tFOREIGN\t\t\t\t1\t", SAMPLE_FOREIGN, NULL, NULL, 0, -1, 1 },
	{ "5\t1\t2\tSNAPSHOT\t\t\t\t7\t0", OP_SNAPSHOT, NULL, NULL, 0, -1, 7 },
	{ "5\t1\t2\tSNAPSHOT\t\t\t\t7\t1", OP_SNAPSHOT, NULL, NULL, 1, -1, 7 },
	{ "5\t1\t2\tEXTENSION\t\t\t\t15\t281474976710655", OP_EXTENSION, NULL, NULL, 0, -1, 0xffffffffffff },
};

static void test_good_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		char text[256], error[256];
		struct taken t = { 0 };
		struct codes codes;

		snprintf(text, sizeof(text), TITLE "# a comment\n\n%s\n", good[i].line);
		if (feed_text(text, &codes, &t, error))
			fail_msg("%s: %s", good[i].line, error);
		assert_int_equal(t.n, 1);
		assert_int_equal(t.last.op, good[i].op);
		assert_int_equal(t.last.time, 5);
		assert_int_equal(t.last.cycles, 5);
		assert_int_equal(t.last.pid, 1);
		assert_int_equal(t.last.tid, 2);
		assert_int_equal(t.last.offset, good[i].offset);
		assert_int_equal(t.last.target, good[i].target);
		assert_int_equal(t.last.count, good[i].count);
		assert_int_equal(!t.last.code, !good[i].file);
		if (good[i].file) {
			assert_string_equal(t.last.code->file, good[i].file);
			assert_string_equal(t.last.code->qualname, good[i].qualname);
		}
		codes_free(&codes);
	}
}

static const char *const bad[] = {
	"nonsense",
	"5\t1\t2\tPY_START\ta.py\tf\t3\t0",	      /* a column short */
	"5\t1\t2\tPY_START\ta.py\tf\t3\t0\t\t\t\t\t", /* one too many, besides opcode, object and task */
	"5\t1\t2\tPY_START\ta.py\tf\t3\t0\t\t\t0",
	"5\t1\t2\tPY_START\ta.py\tf\t3\t0\t\t\tone",
	"5\t1\t2\tJUMP\ta.py\tf\t3\t40\t20\t\t1", /* not of an activation */
	"x\t1\t2\tPY_START\ta.py\tf\t3\t0\t",
	"-5\t1\t2\tPY_START\ta.py\tf\t3\t0\t",
	"5\t\t2\tPY_START\ta.py\tf\t3\t0\t",
	"5\t1\t2x\tPY_START\ta.py\tf\t3\t0\t",
	"5\t1\t2\tPY_STRAT\ta.py\tf\t3\t0\t",
	"5\t1\t2\t\ta.py\tf\t3\t0\t",
	"5\t1\t2\tPY_START\ta.py\tf\t\t0\t",
	"5\t1\t2\tPY_START\ta.py\tf\t3\t\t",
	"5\t1\t2\tJUMP\ta.py\tf\t3\t40\tten",
	"5\t1\t2\tSNAPSHOT\t\t\t\t7\t", /* its beginning, or its end? */
	"5\t1\t2\tSNAPSHOT\t\t\t\t7\t2",
	"99999999999999999999\t1\t2\tPY_START\ta.py\tf\t3\t0\t",
};

static void test_bad_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char text[256], error[256];
		struct taken t = { 0 };
		struct codes codes;

		snprintf(text, sizeof(text), TITLE "%s\n%s\n%s\n", good[0].line, bad[i], good[0].line);
		if (feed_text(text, &codes, &t, error) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		assert_string_equal(error, "line 3 is not an event");
		assert_int_equal(t.n, 1);
		codes_free(&codes);
	}
}

static void test_title(void **state)
{
	static const char *const titles[] = { "\n", "# ocular events 2\n", "# ocular events 1", "5\t1\t2\n" };

	(void)state;
	for (size_t i = 0; i < COUNT(titles); i++) {
		char error[256];
		struct taken t = { 0 };
		struct codes codes;

		assert_int_equal(feed_text(titles[i], &codes, &t, error), -EPROTO);
		assert_non_null(strstr(error, "line 1"));
		codes_free(&codes);
	}
}

static void test_same_name_same_code(void **state)
{
	char error[256];
	struct taken t = { 0 };
	struct codes codes;

	(void)state;
	assert_int_equal(feed_text(TITLE "5\t1\t2\tPY_START\ta.py\tf\t3\t0\t\n6\t1\t2\tPY_RETURN\ta.py\tf\t3\t8\t\n",
				   &codes, &t, error),
			 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.last.code->id, 1);
	codes_free(&codes);
}

static void test_refusal_comes_back(void **state)
{
	char error[256];
	struct taken t = { .refuse = -ENOSPC };
	struct codes codes;

	(void)state;
	assert_int_equal(feed_text(TITLE "5\t1\t2\tGAP\t\t\t\t1\t\n5\t1\t2\tGAP\t\t\t\t1\t\n", &codes, &t, error),
			 -ENOSPC);
	assert_int_equal(t.n, 1);
	codes_free(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_lines),
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_title),
		cmocka_unit_test(test_same_name_same_code),
		cmocka_unit_test(test_refusal_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
