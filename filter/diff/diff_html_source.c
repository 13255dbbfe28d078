// SPDX-License-Identifier: MIT
/* What was specialised differently, and the source of functions that changed, side by side. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "diff_html.h"
#include "diff_source.h"
#include "report/html.h"

static void write_opcode(const struct diff_opcode *o, void *to)
{
	fprintf(to, "<tr><td class=n>%" PRId64 "</td><td><code>", o->line);
	html_elided(to, o->base, DIFF_NAME);
	fputs("</code></td><td><code>", to);
	html_elided(to, o->a, DIFF_NAME);
	fputs("</code></td><td><code>", to);
	html_elided(to, o->b, DIFF_NAME);
	fputs("</code></td></tr>\n", to);
}

static void write_loop(FILE *f, const struct diff_pair *p)
{
	fputs("<details>\n<summary>loop ", f);
	diff_html_place(f, p->b);
	fputs("</summary>\n<table>\n<thead><tr><th>line</th><th class=t>opcode</th><th class=t>A</th><th "
	      "class=t>B</th></tr>"
	      "</thead>\n<tbody>\n",
	      f);
	diff_opcodes(p, write_opcode, f);
	fputs("</tbody>\n</table>\n</details>\n", f);
}

static void write_function(FILE *f, const struct diff_pair *p)
{
	struct diff_specialized s;

	diff_specialized(p, &s);
	fputs("<p>", f);
	diff_html_place(f, p->b);
	fprintf(f, ": %" PRId64 " &rarr; %" PRId64 " instructions specialized", s.a, s.b);
	if (s.base_a >= 0 && s.base_b >= 0)
		fprintf(f, ", %" PRId64 " &rarr; %" PRId64 " could be but were not", s.base_a, s.base_b);
	fputs("</p>\n", f);
}

int diff_html_specialized(struct diff_page *page)
{
	static void (*const write[DIFF_KINDS])(FILE * f, const struct diff_pair *p) = {
		[DIFF_LOOPS] = write_loop,
		[DIFF_FUNCTIONS] = write_function,
	};
	const struct diff *d = page->r->diff;
	size_t n = 0;

	fputs("<section id=specialized>\n<h2>Specialized differently, A &rarr; B</h2>\n", page->f);
	for (int kind = 0; kind < DIFF_KINDS; kind++)
		for (size_t i = 0; i < d->n[kind]; i++)
			if (diff_is_otherwise(&d->pairs[kind][i], kind) && ++n <= DIFF_MOST)
				write[kind](page->f, &d->pairs[kind][i]);
	if (!n)
		fputs("<p class=note>No instruction of a loop or function with the same bytecode.</p>\n", page->f);
	if (n > DIFF_MOST)
		fprintf(page->f, "<p class=note>and %zu more</p>\n", n - DIFF_MOST);
	fputs("</section>\n", page->f);
	return 0;
}

static void write_cell(FILE *f, char side, const struct diff_item *item, int line)
{
	if (line < 0) {
		fprintf(f, "<td class=\"n %c\"></td><td class=%c></td>", side, side);
		return;
	}
	fprintf(f, "<td class=\"n %c\">%" PRId64 "</td><td class=%c><code>", side, item->firstlineno + line, side);
	html_source(f, diff_source_line(item, line), DIFF_CODE);
	fputs("</code></td>", f);
}

static int write_lines(FILE *f, const struct diff_pair *p)
{
	size_t n;
	struct diff_row *rows = diff_source_rows(p, &n);

	if (!rows)
		return -ENOMEM;
	fputs("<table class=sides>\n<thead><tr><th>A</th><th class=t>source</th><th>B</th><th "
	      "class=t>source</th></tr></thead>\n"
	      "<tbody>\n",
	      f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "<tr class=%s>", rows[i].same ? "same" : "changed");
		write_cell(f, 'a', p->a, rows[i].a);
		write_cell(f, 'b', p->b, rows[i].b);
		fputs("</tr>\n", f);
	}
	fputs("</tbody>\n</table>\n", f);
	if (diff_source_is_cut(p->a) || diff_source_is_cut(p->b))
		fprintf(f, "<p class=note>The first %d lines of it.</p>\n", DIFF_LINES);
	free(rows);
	return 0;
}

/* A module's body has the source of its functions in it, which is shown already. */
static int write_changed(struct diff_page *page, const struct diff_pair *p, bool first)
{
	bool open = first && strcmp(p->b->qualname, "<module>");
	uint32_t place = diff_tree_place(&page->tree, p);
	int err;

	fputs("<details", page->f);
	if (place)
		fprintf(page->f, " id=source%" PRIu32 " data-function=%" PRIu32, place, place - 1);
	fputs(open ? " open>\n<summary>" : ">\n<summary>", page->f);
	diff_html_place(page->f, p->b);
	if (p->verdict == DIFF_SLOWER || p->verdict == DIFF_FASTER) {
		fprintf(page->f, " <b>%s ", diff_verdict_titles[p->verdict]);
		diff_write_change(page->f, p->change, p->a->mean, p->b->mean);
		fputs("</b>", page->f);
	}
	fputs("</summary>\n", page->f);
	err = write_lines(page->f, p);
	fputs("</details>\n", page->f);
	return err;
}

/* Their bytecode says that they changed, and nothing says how. */
static void write_unknown(struct diff_page *page, size_t n)
{
	const struct diff *d = page->r->diff;
	size_t shown = 0;

	if (!n)
		return;
	fprintf(page->f,
		"<p class=note>The bytecode of %zu more changed, whose source is not known of both sides:</p>\n<ul>\n",
		n);
	for (size_t i = 0; i < d->n[DIFF_FUNCTIONS] && shown < DIFF_SIGHT; i++) {
		const struct diff_pair *p = &d->pairs[DIFF_FUNCTIONS][i];
		const char *a, *b;

		if (diff_source_state(p) != DIFF_SOURCE_UNKNOWN)
			continue;
		a = diff_source_why(p->a);
		b = diff_source_why(p->b);
		shown++;
		fputs("<li>", page->f);
		diff_html_place(page->f, p->b);
		fputs(a ? ": A: " : b ? ": B: " : "", page->f);
		html_text(page->f, a ?: b ?: "");
		fputs("</li>\n", page->f);
	}
	fputs("</ul>\n", page->f);
	if (shown < n)
		fprintf(page->f, "<p class=note>and %zu more</p>\n", n - shown);
	fputs("<p class=note>A summary that was made right after recording keeps the source: "
	      "<code>ocular report DIR --summary FILE --for-diff</code></p>\n",
	      page->f);
}

int diff_html_source(struct diff_page *page)
{
	const struct diff *d = page->r->diff;
	size_t n[DIFF_SOURCE_SILENT + 1] = { 0 };
	int err = 0;

	fputs("<section id=source>\n<h2>Source that changed</h2>\n", page->f);
	for (size_t i = 0; i < d->n[DIFF_FUNCTIONS] && !err; i++) {
		enum diff_source_state state = diff_source_state(&d->pairs[DIFF_FUNCTIONS][i]);

		if (++n[state] <= DIFF_CHANGED && state == DIFF_SOURCE_CHANGED)
			err = write_changed(page, &d->pairs[DIFF_FUNCTIONS][i], n[state] <= 3);
	}
	if (n[DIFF_SOURCE_CHANGED] > DIFF_CHANGED)
		fprintf(page->f, "<p class=note>and %zu more functions</p>\n", n[DIFF_SOURCE_CHANGED] - DIFF_CHANGED);
	if (!n[DIFF_SOURCE_CHANGED])
		fprintf(page->f, "<p class=note>None, of %zu functions whose source is known of both sides.</p>\n",
			n[DIFF_SOURCE_SAME]);
	write_unknown(page, n[DIFF_SOURCE_UNKNOWN]);
	fputs("</section>\n", page->f);
	return err;
}
