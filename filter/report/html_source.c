// SPDX-License-Identifier: MIT
/* The source of the functions with most self time, each line coloured by its cost. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/figure.h"
#include "heat.h"
#include "html.h"
#include "html_page.h"
#include "report.h"

#define WARMTHS 9 /* classes h1 to h9 of report.css */

/* Heat by wait, beside the line's by all of its time. line NULL: there is no code on it. */
static void write_waiting(FILE *f, const struct heat *h, const struct heat_line *line)
{
	char text[FIGURE];
	double part = line && h->most_waiting ? (double)line->waiting_ns / h->most_waiting : 0;

	if (part > 0)
		fprintf(f, "<td class=\"n w%d\">%s</td>", (int)(part * (WARMTHS - 0.01)) + 1,
			figure_span(text, line->waiting_ns));
	else if (h->most_waiting)
		fputs("<td></td>", f);
}

static void write_line(struct page *page, const struct heat *h, int32_t number, const char *text)
{
	const struct heat_line *line = &h->lines[number - h->first];
	double cycles = line->cycles > line->block ? line->cycles : line->block;
	double part = h->most > 0 ? cycles / h->most : 0;
	char brief[FIGURE];

	fprintf(page->f, "<tr class=h%d><td class=n>%d</td>",
		line->known || line->block > 0 ? (int)(part * (WARMTHS - 0.01)) + 1 : 0, number);
	if (line->known && h->sum > 0)
		fprintf(page->f, "<td class=n>%s</td><td class=n>%.1f%%</td>", figure_brief(brief, line->cycles),
			100 * line->cycles / h->sum);
	else
		fputs("<td></td><td></td>", page->f);
	write_waiting(page->f, h, line);
	fputs("<td><code>", page->f);
	html_source(page->f, text, PAGE_LINE);
	fputs("</code></td></tr>\n", page->f);
}

static void write_lines(struct page *page, const struct source *source, const struct heat *h, int64_t first)
{
	int32_t from = first > 0 && first < h->first ? first : h->first, number = from;

	fprintf(page->f,
		"<table class=source>\n<thead><tr><th>line</th><th>cycles</th><th>share</th>%s<th "
		"class=t>source</th></tr>"
		"</thead>\n"
		"<tbody>\n",
		h->most_waiting ? "<th>waiting</th>" : "");
	for (; number < h->first && number - from < PAGE_LINES; number++) {
		fprintf(page->f, "<tr class=h0><td class=n>%d</td><td></td><td></td>", number);
		write_waiting(page->f, h, NULL);
		fputs("<td><code>", page->f);
		html_source(page->f, source_line(source, number) ?: "", PAGE_LINE);
		fputs("</code></td></tr>\n", page->f);
	}
	for (; number <= h->last && number - from < PAGE_LINES; number++)
		write_line(page, h, number, source_line(source, number) ?: "");
	fputs("</tbody>\n</table>\n", page->f);
	if (number <= h->last)
		fprintf(page->f, "<p class=note>and %d more lines</p>\n", h->last - number + 1);
}

static const char *meaning(const struct profile *p, const struct heat *h)
{
	static const char *const meanings[] = {
		[HEAT_BLOCKS] =
			("Loops were timed as a whole, calls included: what a loop took stands at its line, and "
			 "all lines of it have its colour. Lines outside of loops were not timed."),
		[HEAT_INSTRUCTIONS] = "Measured from instruction to instruction, one callback included in each.",
		[HEAT_LINES] = "Measured from line to line, without calls; one callback included in each.",
	};

	if (h->most <= 0)
		return "No line was timed: mode adaptive times the lines of loops; modes lines, precise and "
		       "opcodes time all.";
	if (h->source == HEAT_INSTRUCTIONS && !profile_instrumented(p))
		return "Measured from instruction to instruction; the only callbacks included are those of calls.";
	return meanings[h->source];
}

static int write_source(struct page *page, const struct summed *s, size_t number)
{
	const struct report r = { .p = page->p };
	const struct code *code = s->code;
	const struct source *source = sources_get(&page->sources, code->file, code->process->realtime_ns);
	struct heat h;
	int err = heat_of(code, &h);

	if (err || !source) {
		heat_free(&h);
		return -ENOMEM;
	}
	if (!profile_has_cpu(page->p) || code->function->cpu_unknown)
		h.most_waiting = 0;
	fprintf(page->f, "<details id=source%zu data-function=%" PRId64 "%s>\n<summary><span class=rank>%.1f%%</span> ",
		number, flame_place_shown(&page->flame, code), number <= 3 && !source->why ? " open" : "",
		100 * report_share(&r, s));
	page_place(page, code, code->firstlineno);
	fputs("</summary>\n", page->f);
	page_details(page, s);
	if (source->why)
		fprintf(page->f, "<p class=note>No source: %s.</p>\n", source->why);
	else if (h.many)
		fprintf(page->f, "<p class=note>It has more than %d lines: none was measured.</p>\n", CODE_LINES_MOST);
	else if (h.last < h.first)
		fputs("<p class=note>Its lines are in no code table.</p>\n", page->f);
	else
		fprintf(page->f, "<p class=note>%s</p>\n", meaning(page->p, &h));
	if (!source->why && h.last >= h.first)
		write_lines(page, source, &h, code->firstlineno);
	fputs("</details>\n", page->f);
	heat_free(&h);
	return 0;
}

/* In the order of the table, whose first rows lead here. */
int page_sources(struct page *page)
{
	int err = 0;

	fputs("<section id=source>\n<h2>Source</h2>\n", page->f);
	for (size_t i = 0; i < page->functions.n && i < PAGE_SOURCES && !err; i++)
		err = write_source(page, &page->functions.all[i], i + 1);
	fputs("</section>\n", page->f);
	return err;
}
