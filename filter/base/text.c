// SPDX-License-Identifier: MIT
/* One walk over UTF-8 sequences serves all; a style says what becomes of the special characters. */
#include "text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define TAB	    8

struct style {
	const char *escaped; /* ASCII characters that get a backslash */
	const char *control; /* format of a control character; NULL: as it is */
	const char *further; /* of one above U+00FF */
};

static const struct style json = { "\"\\", "\\u%04x", "\\u%04x" };
static const struct style plain = { "", "\\x%02x", "\\u%04x" };
static const struct style utf8 = { "", NULL, NULL };

/*
 * Well-formed UTF-8 (Unicode standard, table 3-7): the range of the second byte excludes overlong forms, surrogates and
 * everything above U+10FFFF.
 */
static const struct sequence {
	uint8_t first, last; /* of the first byte */
	uint8_t low, high;   /* of the second byte; further ones are 80..bf */
	uint8_t length;
} sequences[] = {
	{ 0x01, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static bool has_tail(const uint8_t *s, const struct sequence *q)
{
	if (q->length > 1 && (s[1] < q->low || s[1] > q->high))
		return false;
	for (int i = 2; i < q->length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Length of the sequence at s, 0 if it is none. A NUL is never a continuation byte, so reading stops there. */
static size_t sequence_length(const uint8_t *s)
{
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (*s >= sequences[i].first && *s <= sequences[i].last)
			return has_tail(s, &sequences[i]) ? sequences[i].length : 0;
	return 0;
}

/* A character of valid UTF-8; *s moves past it. */
static uint32_t next(const char **s)
{
	static const uint8_t bits[] = { 0x7f, 0x1f, 0x0f, 0x07 }; /* of the first byte, by how many follow */
	uint8_t first = *(*s)++;
	unsigned n = (first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0);
	uint32_t c = first & bits[n];

	for (; n; n--)
		c = c << 6 | (*(*s)++ & 0x3f);
	return c;
}

static const struct {
	uint32_t first, last;
} controls[] = {
	{ 0x01, 0x1f }, { 0x7f, 0x9f }, { 0x61c, 0x61c }, { 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },
};

size_t text_control(const char *s, uint32_t *c)
{
	const char *end = s;

	if (((uint8_t)*s >= 0x20 && (uint8_t)*s < 0x7f) || !*s || !sequence_length((const uint8_t *)s))
		return 0;
	*c = next(&end);
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (*c >= controls[i].first && *c <= controls[i].last)
			return end - s;
	return 0;
}

char *text_escaped(char *to, const char *s)
{
	static const char escapes[256] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r', ['\\'] = '\\' };
	uint32_t c;
	size_t n;

	for (; *s; s += n) {
		char escape = escapes[(uint8_t)*s];

		n = escape ? 0 : text_control(s, &c);
		if (escape)
			*to++ = '\\';
		if (n)
			to += sprintf(to, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
		else
			*to++ = escape ? escape : *s;
		n = n ? n : 1;
	}
	return to;
}

size_t text_sequence(const char *s)
{
	return sequence_length((const uint8_t *)s);
}

static void write_sequence(FILE *f, const uint8_t *s, size_t length, const struct style *style)
{
	uint32_t c;

	if (!length)
		fputs(REPLACEMENT, f);
	else if (style->control && text_control((const char *)s, &c))
		fprintf(f, c < 0x100 ? style->control : style->further, c);
	else if (strchr(style->escaped, *s))
		fprintf(f, "\\%c", *s);
	else
		fwrite(s, 1, length, f);
}

static void write_text(FILE *f, const char *text, const struct style *style)
{
	const uint8_t *s = (const uint8_t *)text;

	while (*s) {
		size_t length = sequence_length(s);

		write_sequence(f, s, length, style);
		s += length ? length : 1;
	}
}

void text_json(FILE *f, const char *s)
{
	fputc('"', f);
	write_text(f, s, &json);
	fputc('"', f);
}

static char *put_unit(char *to, unsigned unit)
{
	to = mempcpy(to, "\\u", 2);
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = "0123456789ABCDEF"[unit >> shift & 15];
	return to;
}

/* One or two units of UTF-16. */
static char *put_units(char *to, uint32_t c)
{
	if (c < 0x10000)
		return put_unit(to, c);
	return put_unit(put_unit(to, 0xd800 + ((c - 0x10000) >> 10)), 0xdc00 + (c & 0x3ff));
}

/* A character that is not itself there. *s moves past it. */
static char *put_special(char *to, const char **s)
{
	static const char escapes[256] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't', ['"'] = '"', ['\\'] = '\\'
	};
	char escape = escapes[(uint8_t) * *s];

	if (escape) {
		++*s;
		*to++ = '\\';
		*to++ = escape;
		return to;
	}
	if (sequence_length((const uint8_t *)*s))
		return put_units(to, next(s));
	++*s;
	return put_units(to, 0xfffd);
}

static bool is_itself(char c)
{
	return c >= ' ' && c != '"' && c != '\\';
}

char *text_ascii(char *to, const char *s)
{
	*to++ = '"';
	while (*s)
		if (is_itself(*s))
			*to++ = *s++;
		else
			to = put_special(to, &s);
	*to++ = '"';
	return to;
}

void text_plain(FILE *f, const char *s)
{
	write_text(f, s, &plain);
}

/*
 * Blocks of characters that take two columns (Unicode annex 11, W and F). wcwidth() knows each character, but only in a
 * locale that perf's process may not have: single pictographs outside these blocks count as one.
 */
static const struct {
	uint32_t first, last;
} wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x4dbf },	  { 0x4e00, 0xa4cf },
	{ 0xa960, 0xa97f },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },	  { 0xfe30, 0xfe6f },
	{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x16fe0, 0x18d08 }, { 0x1aff0, 0x1b2fb },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1faff }, { 0x20000, 0x3fffd },
};

static unsigned columns(uint32_t c)
{
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (c >= wide[i].first && c <= wide[i].last)
			return 2;
	return 1;
}

static size_t width(const char *s)
{
	size_t n = 0;

	while (*s)
		n += columns(next(&s));
	return n;
}

/* How many bytes of s fit into `most` columns. */
static int head_of(const char *s, size_t most)
{
	const char *at = s, *end = s;
	size_t n = 0;

	while (*at && (n += columns(next(&at))) <= most)
		end = at;
	return end - s;
}

/* The end of s, `all` columns wide, that fits into `most`. */
static const char *tail_of(const char *s, size_t all, size_t most)
{
	while (all > most)
		all -= columns(next(&s));
	return s;
}

/* The same in every style without escapes of its own: most texts are so, and need no stream to be copied. */
static bool is_simple(const char *s)
{
	while (*s >= ' ' && *s < 0x7f)
		s++;
	return !*s;
}

/* As text_plain() writes it, in malloc'ed memory; NULL: there is none. */
static char *plain_copy(const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *m = is_simple(s) ? NULL : open_memstream(&text, &size);

	if (!m)
		return is_simple(s) ? strdup(s) : NULL;
	text_plain(m, s);
	if (!fclose(m))
		return text;
	free(text);
	return NULL;
}

size_t text_columns(const char *s)
{
	char *text = plain_copy(s);
	size_t n = text ? width(text) : 0;

	free(text);
	return n;
}

char *text_elide(const char *s, size_t most)
{
	char *text = plain_copy(s), *brief = NULL;
	size_t all = text ? width(text) : 0, head = (most - 3) / 2;

	if (!text || all <= most)
		return text;
	if (asprintf(&brief, "%.*s...%s", head_of(text, head), text, tail_of(text, all, most - 3 - head)) < 0)
		brief = NULL;
	free(text);
	return brief;
}

void text_elided(FILE *f, const char *s, size_t most)
{
	char *text = text_elide(s, most);

	if (text)
		fputs(text, f);
	free(text);
}

void text_source(FILE *f, const char *s, size_t most)
{
	char *text = NULL;
	size_t size, column = 0;
	FILE *m = open_memstream(&text, &size);

	for (; m && *s; s++) {
		if (*s != '\t') {
			fputc(*s, m);
			column += (*s & 0xc0) != 0x80;
			continue;
		}
		fprintf(m, "%*s", (int)(TAB - column % TAB), "");
		column += TAB - column % TAB;
	}
	if (m && !fclose(m))
		text_elided(f, text, most);
	free(text);
}

char *text_utf8(const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = is_simple(s) ? NULL : open_memstream(&text, &size);

	if (!f)
		return is_simple(s) ? strdup(s) : NULL;
	write_text(f, s, &utf8);
	return fclose(f) ? NULL : text;
}
