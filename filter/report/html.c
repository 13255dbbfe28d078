// SPDX-License-Identifier: MIT
#include "html.h"

#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"

#define TOOLTIP_MOST 1000 /* characters */

static const char style[] =
#include "report.css.inc"
	;

/* SCRIPT_HASH, and the text that has it. */
#include "report.js.inc"

void html_script(FILE *f)
{
	fputs(script, f);
}

const char *html_script_hash(void)
{
	return SCRIPT_HASH;
}

void html_style(FILE *f)
{
	fputs(style, f);
}

static const struct {
	const char *bytes, *written;
} escapes[] = {
	{ "&", "&amp;" },
	{ "<", "&lt;" },
	{ ">", "&gt;" },
	{ "\"", "&quot;" },
	{ "'", "&#39;" },
	{ "\x7f", "&#x2421;" },
	/* These make a text read differently from what it is: Unicode annex 9, table 4. */
	{ "\u061c", "[U+061C]" },
	{ "\u200e", "[U+200E]" },
	{ "\u200f", "[U+200F]" },
	{ "\u202a", "[U+202A]" },
	{ "\u202b", "[U+202B]" },
	{ "\u202c", "[U+202C]" },
	{ "\u202d", "[U+202D]" },
	{ "\u202e", "[U+202E]" },
	{ "\u2066", "[U+2066]" },
	{ "\u2067", "[U+2067]" },
	{ "\u2068", "[U+2068]" },
	{ "\u2069", "[U+2069]" },
};

/* Writes what begins at s if it is special; returns its bytes. */
static size_t write_special(FILE *f, const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++)
		if (!strncmp(s, escapes[i].bytes, strlen(escapes[i].bytes))) {
			fputs(escapes[i].written, f);
			return strlen(escapes[i].bytes);
		}
	if (*c < 0x20 && *c != '\t') {
		fprintf(f, "&#x%x;", 0x2400 + *c); /* Unicode's symbols for control characters */
		return 1;
	}
	if (*c == 0xc2 && c[1] < 0xa0) { /* C1 */
		fprintf(f, "[U+%04X]", c[1]);
		return 2;
	}
	return 0;
}

/* How many characters are as they are, at least: most texts are of nothing else. */
static size_t plain_length(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] < 0x7f && !strchr("&<>\"'", s[n]))
		n++;
	return n;
}

void html_text(FILE *f, const char *s)
{
	char *valid = text_utf8(s);

	for (const char *at = valid; at && *at;) {
		size_t plain = plain_length(at), special = plain ? 0 : write_special(f, at);

		if (!special)
			plain += !plain;
		fwrite(at, 1, plain, f);
		at += plain + special;
	}
	free(valid);
}

void html_elided(FILE *f, const char *s, size_t most)
{
	char *brief = text_elide(s, most), *full = text_elide(s, TOOLTIP_MOST);

	if (brief && full && strcmp(brief, full)) {
		fputs("<span title=\"", f);
		html_text(f, full);
		fputs("\">", f);
		html_text(f, brief);
		fputs("</span>", f);
	} else if (brief) {
		html_text(f, brief);
	}
	free(brief);
	free(full);
}

void html_text_most(FILE *f, const char *s)
{
	char *text = text_elide(s, TOOLTIP_MOST);

	if (text)
		html_text(f, text);
	free(text);
}

/* A "<" could begin the end of the element, or a comment. */
void html_json(FILE *f, const char *s, size_t most)
{
	char *brief = text_elide(s, most), *quoted = NULL;
	size_t size;
	FILE *m = open_memstream(&quoted, &size);

	if (m) {
		text_json(m, brief ? brief : "");
		if (fclose(m))
			fputs("\"\"", f);
		else
			for (const char *c = quoted; *c; c++)
				*c == '<' ? fputs("\\u003c", f) : fputc(*c, f);
	}
	free(quoted);
	free(brief);
}

void html_source(FILE *f, const char *s, size_t most)
{
	char *some = strndup(s, most);

	if (some)
		html_text(f, some);
	if (strlen(s) > most)
		fputs("&hellip;", f);
	free(some);
}

void html_number(FILE *f, double n)
{
	char text[FIGURE];

	fprintf(f, "<td class=n title=\"%.0f\">%s</td>", n, figure_brief(text, n));
}

void html_duration(FILE *f, uint64_t ns)
{
	char text[FIGURE];

	fprintf(f, "<td class=n>%s</td>", figure_duration(text, ns));
}

void html_share(FILE *f, double share)
{
	fprintf(f, "<td class=share style=\"--part:%.1f%%\">%.1f%%</td>", 100 * share, 100 * share);
}

/* Five bits a character, the lowest first; more follow where the sixth is set. */
void html_packed(FILE *f, uint64_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (; n >= 32; n /= 32)
		putc_unlocked(digits[32 | n % 32], f);
	putc_unlocked(digits[n], f);
}

void html_packed_signed(FILE *f, int64_t n)
{
	html_packed(f, n < 0 ? ~(uint64_t)n * 2 + 1 : (uint64_t)n * 2);
}

void html_dash(FILE *f)
{
	fputs("<td class=n>&ndash;</td>", f);
}

const char *html_cycles(const char *clock)
{
	/* Only a processor's own are a CPU's. */
	static const struct {
		const char *clock, *words;
	} counted[] = { { "core", "CPU cycles" }, { "emulated", "emulated cycles" } };

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		if (clock && !strcmp(clock, counted[i].clock))
			return counted[i].words;
	return NULL;
}
