// SPDX-License-Identifier: MIT
#include "report_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"

void write_title(const struct report *r, const char *title)
{
	names_forget(r->seen);
	fprintf(r->f, "\n%s%s%s\n", r->c->title, title, r->c->plain);
}

void write_number(const struct report *r, double n)
{
	char text[FIGURE];

	fprintf(r->f, " %6s", figure_brief(text, n));
}

void write_duration(const struct report *r, uint64_t ns)
{
	char text[FIGURE];

	fprintf(r->f, " %10s", figure_duration(text, ns));
}

void write_span(const struct report *r, uint64_t ns)
{
	char text[FIGURE];

	fprintf(r->f, " %7s", figure_span(text, ns));
}

void write_callback(const struct report *r, const struct callback *c)
{
	if (c->least == c->most)
		fprintf(r->f, "~%" PRIu64 " cycles", c->most);
	else
		fprintf(r->f, "%" PRIu64 " to %" PRIu64 " cycles", c->least, c->most);
}

void write_share(const struct report *r, double part, double whole)
{
	fprintf(r->f, "%5.1f%%", whole ? 100 * part / whole : 0);
}

void write_form(const struct report *r, const char *base, const char *specialized)
{
	text_plain(r->f, base);
	if (!specialized)
		return;
	fprintf(r->f, " -> %s", r->c->special);
	text_plain(r->f, specialized);
	fputs(r->c->plain, r->f);
}

void write_place(const struct report *r, const struct code *code, int64_t line, int64_t offset, unsigned used)
{
	const struct name name = { .code = code, .line = line, .offset = offset };
	const char *text = code->c ? code->qualname : names_next(r->seen, &name, r->width - used - 2);

	fputs("  ", r->f);
	if (code->c)
		text_elided(r->f, text, r->width - used - 2);
	else if (text)
		text_plain(r->f, text);
	fputc('\n', r->f);
}
