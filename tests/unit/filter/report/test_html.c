/* SPDX-License-Identifier: MIT */
/* test_html.c - no name of a traced program becomes markup, and no distribution breaks its histogram. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/html.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define BAD	 "\xef\xbf\xbd"

static const struct {
	const char *in, *out;
} texts[] = {
	{ "", "" },
	{ "plain", "plain" },
	{ "<script>alert('x')</script>", "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" },
	{ "\" onload=\"x", "&quot; onload=&quot;x" },
	{ "&lt;", "&amp;lt;" },
	{ "a\nb\rc\td", "a&#x240a;b&#x240d;c\td" },
	{ "\x01\x1b[2J\x7f", "&#x2401;&#x241b;[2J&#x2421;" },
	{ "\xc2\x85", "[U+0085]" },
	{ "\u202egnp.exe", "[U+202E]gnp.exe" },
	{ "\u2066\u2069\u200f", "[U+2066][U+2069][U+200F]" },
	{ "\u00e9\u4e2d\U0001f40d", "\u00e9\u4e2d\U0001f40d" },
	{ "\xed\xb2\x80", BAD BAD BAD }, /* a surrogate */
	{ "\xff<", BAD "&lt;" },
	{ "\xc3", BAD },
};

/* What `write` prints; the caller frees it. */
#define WRITTEN(call) \
	({ \
		char *written_text = NULL; \
		size_t written_size; \
		FILE *f = open_memstream(&written_text, &written_size); \
		assert_non_null(f); \
		call; \
		assert_int_equal(fclose(f), 0); \
		written_text; \
	})

static void test_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		char *text = WRITTEN(html_text(f, texts[i].in));

		assert_string_equal(text, texts[i].out);
		free(text);
	}
}

/* In a script's data neither its end nor a comment can begin. */
static void test_json(void **state)
{
	char *text = WRITTEN(html_json(f, "</script><!--\"\x1b", 40));

	(void)state;
	assert_string_equal(text, "\"\\u003c/script>\\u003c!--\\\"\\\\x1b\"");
	free(text);
}

/* A name of 10 kB, all of it to be escaped: neither the cell nor its tooltip is longer than promised. */
static void pack(FILE *f, size_t n, const uint64_t *numbers)
{
	for (size_t i = 0; i < n; i++)
		html_packed(f, numbers[i]);
}

static void pack_signed(FILE *f, size_t n, const int64_t *numbers)
{
	for (size_t i = 0; i < n; i++)
		html_packed_signed(f, numbers[i]);
}

/* Five bits a character, the lowest first; no character of them could end a script or a text of JSON. */
static void test_packed(void **state)
{
	static const uint64_t large[] = { 0, 31, 32, UINT64_MAX };
	static const int64_t around[] = { 0, -1, 1, ~(int64_t)16 };
	char *text = WRITTEN(pack(f, COUNT(large), large));
	char *below = WRITTEN(pack_signed(f, COUNT(around), around));

	(void)state;
	assert_string_equal(text, "AfgB____________P");
	assert_string_equal(below, "ABChB");
	free(text);
	free(below);
}

static void test_elided(void **state)
{
	char name[10001], *text;

	(void)state;
	memset(name, '<', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	text = WRITTEN(html_elided(f, name, 20));
	assert_non_null(
		strstr(text, "\">&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;...&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;&lt;</span>"));
	assert_null(strchr(text + 1, '<') == strrchr(text, '<') ? NULL : "a '<' was left");
	assert_true(strlen(text) < 5000);
	free(text);
	text = WRITTEN(html_elided(f, "short", 20));
	assert_string_equal(text, "short");
	free(text);
}

static void test_source(void **state)
{
	char *text = WRITTEN(html_source(f, "\tif a < b:", 100));

	(void)state;
	assert_string_equal(text, "\tif a &lt; b:");
	free(text);
	text = WRITTEN(html_source(f, "abcdef", 3));
	assert_string_equal(text, "abc&hellip;");
	free(text);
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static const struct {
	uint64_t first, last, step;
	unsigned columns; /* 0: as many as the picture holds, or fewer */
} series[] = {
	{ 0, 0, 1, 1 },
	{ 7, 7, 1, 1 },
	{ 0, 9, 1, 10 },
	{ 1, 1ull << 62, 1ull << 55, 0 },
	{ UINT64_MAX, UINT64_MAX, 1, 1 },
};

static void test_histogram(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(series); i++) {
		struct stat_sum s = { 0 };
		char *text;

		for (uint64_t v = series[i].first;; v += series[i].step) {
			assert_int_equal(stat_add(&s, v), 0);
			if (v > series[i].last - series[i].step || v == series[i].last)
				break;
		}
		text = WRITTEN(html_histogram(f, &s, "trips"));
		if (series[i].columns)
			assert_int_equal(count(text, "<rect"), series[i].columns);
		assert_in_range(count(text, "<rect"), 1, 80);
		assert_int_equal(count(text, "class=median"), 1);
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, "inf"));
		stat_free(&s);
		free(text);
	}
}

static void test_no_histogram_of_nothing(void **state)
{
	struct stat_sum s = { 0 };
	char *text = WRITTEN(html_histogram(f, &s, "trips"));

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_elided),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_no_histogram_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
