/* SPDX-License-Identifier: MIT */
/* test_text.c - hostile names, quoted for JSON, for a line of a report, and as plain UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <jansson.h>
#include <string.h>

#include "base/text.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define BAD	 "\xef\xbf\xbd"

/* clang-format off */
static const struct {
	const char *in, *json, *plain, *utf8;
} rows[] = {
	{ "", "\"\"", "", "" },
	{ "f", "\"f\"", "f", "f" },
	{ "<lambda>", "\"<lambda>\"", "<lambda>", "<lambda>" },
	{ "\"\\/", "\"\\\"\\\\/\"", "\"\\/", "\"\\/" },
	{ "a\nb\tc\rd", "\"a\\u000ab\\u0009c\\u000dd\"", "a\\x0ab\\x09c\\x0dd", "a\nb\tc\rd" },
	{ "\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\"", "\\x01\\x1f\\x7f", "\x01\x1f\x7f" },
	{ "\x1b[2J", "\"\\u001b[2J\"", "\\x1b[2J", "\x1b[2J" },
	/* C1 control: CSI as one character */
	{ "\xc2\x9b", "\"\\u009b\"", "\\x9b", "\xc2\x9b" },
	{ "\xc2\xa0", "\"\xc2\xa0\"", "\xc2\xa0", "\xc2\xa0" },
	/* direction: marks, embeddings, isolates; what ends lines; their neighbours do neither */
	{ "a\xe2\x80\xae" "b", "\"a\\u202eb\"", "a\\u202eb", "a\xe2\x80\xae" "b" },
	{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\"\\u061c\\u200e\\u200f\"", "\\u061c\\u200e\\u200f",
	  "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f" },
	{ "\xe2\x80\xa8\xe2\x81\xa6\xe2\x81\xa9", "\"\\u2028\\u2066\\u2069\"", "\\u2028\\u2066\\u2069",
	  "\xe2\x80\xa8\xe2\x81\xa6\xe2\x81\xa9" },
	{ "\xe2\x80\x8d\xe2\x80\xaf", "\"\xe2\x80\x8d\xe2\x80\xaf\"", "\xe2\x80\x8d\xe2\x80\xaf",
	  "\xe2\x80\x8d\xe2\x80\xaf" },
	/* the first and last of each length */
	{ "\xc2\xbf \xdf\xbf", "\"\xc2\xbf \xdf\xbf\"", "\xc2\xbf \xdf\xbf", "\xc2\xbf \xdf\xbf" },
	/* A whole character, then more bytes of a tail than any character has. */
	{ "\xe2\x80\xae\x80\x80\x80\x80\x80\xc3\xa9\x80", "\"\\u202e" BAD BAD BAD BAD BAD "\xc3\xa9" BAD "\"",
	  "\\u202e" BAD BAD BAD BAD BAD "\xc3\xa9" BAD, "\xe2\x80\xae" BAD BAD BAD BAD BAD "\xc3\xa9" BAD },
	{ "\xe0\xa0\x80\xef\xbf\xbf", "\"\xe0\xa0\x80\xef\xbf\xbf\"", "\xe0\xa0\x80\xef\xbf\xbf",
	  "\xe0\xa0\x80\xef\xbf\xbf" },
	{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"",
	  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
	/* no UTF-8: a lone tail, a cut sequence, overlong forms, a surrogate, beyond U+10FFFF */
	{ "\x80", "\"" BAD "\"", BAD, BAD },
	{ "\xff" "f", "\"" BAD "f\"", BAD "f", BAD "f" },
	{ "\xe4\xb8", "\"" BAD BAD "\"", BAD BAD, BAD BAD },
	{ "\xe4" "a", "\"" BAD "a\"", BAD "a", BAD "a" },
	{ "\xf0\x9f\x90", "\"" BAD BAD BAD "\"", BAD BAD BAD, BAD BAD BAD },
	{ "\xc0\xaf", "\"" BAD BAD "\"", BAD BAD, BAD BAD },
	{ "\xc1\xbf", "\"" BAD BAD "\"", BAD BAD, BAD BAD },
	{ "\xe0\x9f\xbf", "\"" BAD BAD BAD "\"", BAD BAD BAD, BAD BAD BAD },
	{ "\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"", BAD BAD BAD BAD, BAD BAD BAD BAD },
	{ "\xed\xa0\x80", "\"" BAD BAD BAD "\"", BAD BAD BAD, BAD BAD BAD },
	{ "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"", BAD BAD BAD BAD, BAD BAD BAD BAD },
	{ "\xf5\x80", "\"" BAD BAD "\"", BAD BAD, BAD BAD },
};
/* clang-format on */

static char *written(void (*write)(FILE *f, const char *s), const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	write(f, s);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static void assert_text(char *got, const char *expected)
{
	assert_non_null(got);
	assert_string_equal(got, expected);
	free(got);
}

static void test_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_text(written(text_json, rows[i].in), rows[i].json);
}

static void test_plain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_text(written(text_plain, rows[i].in), rows[i].plain);
}

static void test_utf8(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_text(text_utf8(rows[i].in), rows[i].utf8);
}

/* As jansson writes it; `expected`: bytes that are not UTF-8 became U+FFFD. */
static void assert_ascii(const char *in, const char *expected)
{
	json_t *v = json_string(expected);
	char *text = malloc(strlen(in) * TEXT_ASCII + 3);

	assert_non_null(text);
	*text_ascii(text, in) = '\0';
	assert_text(json_dumps(v, JSON_ENCODE_ANY | JSON_ENSURE_ASCII), text);
	free(text);
	json_decref(v);
}

static void test_ascii(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_ascii(rows[i].in, rows[i].utf8);
	assert_ascii("\b\f\n\r\t\v", "\b\f\n\r\t\v");
}

/* A sequence cut by the end of the string must not be read beyond it. */
static void test_nothing_is_read_after_the_end(void **state)
{
	static const char *const cut[] = { "\xc3", "\xe4", "\xe4\xb8", "\xf0", "\xf0\x9f", "\xf0\x9f\x90" };

	(void)state;
	for (size_t i = 0; i < COUNT(cut); i++) {
		char *exact = strdup(cut[i]); /* a sanitizer sees what is behind it */

		free(written(text_json, exact));
		assert_ascii(exact, BAD BAD BAD + 9 - 3 * strlen(exact));
		free(exact);
	}
}

#define GREEK "\xce\xb1" /* a character of two bytes */
#define HAN   "\u4e2d"
#define SNAKE "\U0001f40d"

/* clang-format off */
static const struct {
	const char *in;
	size_t most;
	const char *out;
} elided[] = {
	{ "", 8, "" },
	{ "12345678", 8, "12345678" },
	{ "123456789", 8, "12...789" },
	{ "1234567890", 9, "123...890" },
	{ GREEK GREEK GREEK GREEK GREEK GREEK GREEK GREEK, 8,
	  GREEK GREEK GREEK GREEK GREEK GREEK GREEK GREEK },
	{ GREEK GREEK GREEK GREEK GREEK GREEK GREEK GREEK GREEK, 8, GREEK GREEK "..." GREEK GREEK GREEK },
	{ "a\nb\nc\nd", 10, "a\\x...x0ad" },
	{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 8, BAD BAD "..." BAD BAD BAD },
	/* of two columns: all fit, one too many, and where half of one would */
	{ HAN HAN HAN HAN, 8, HAN HAN HAN HAN },
	{ HAN HAN HAN HAN HAN, 8, HAN "..." HAN },
	{ HAN HAN HAN HAN HAN, 9, HAN "..." HAN },
	{ "a" HAN SNAKE HAN HAN, 8, "a..." HAN },
	{ SNAKE SNAKE SNAKE SNAKE SNAKE SNAKE, 11, SNAKE SNAKE "..." SNAKE SNAKE },
};
/* clang-format on */

/* clang-format off */
static const struct {
	const char *in;
	size_t most;
	const char *out;
} source[] = {
	{ "", 80, "" },
	{ "\tif a:\t# why", 80, "        if a:   # why" },
	{ "       \tx", 80, "        x" },
	{ "        \tx", 80, "                x" },
	{ GREEK GREEK "\tx\x1b", 80, GREEK GREEK "      x\\x1b" },
	{ "\t\t1", 16, "      ...      1" },
};
/* clang-format on */

static void assert_brief(void (*write)(FILE *f, const char *s, size_t most), const char *in, size_t most,
			 const char *out)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	write(f, in, most);
	assert_int_equal(fclose(f), 0);
	assert_text(text, out);
}

static void test_elided(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(elided); i++)
		assert_brief(text_elided, elided[i].in, elided[i].most, elided[i].out);
}

static void test_source(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(source); i++)
		assert_brief(text_source, source[i].in, source[i].most, source[i].out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),   cmocka_unit_test(test_plain),
		cmocka_unit_test(test_utf8),   cmocka_unit_test(test_elided),
		cmocka_unit_test(test_source), cmocka_unit_test(test_nothing_is_read_after_the_end),
		cmocka_unit_test(test_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
