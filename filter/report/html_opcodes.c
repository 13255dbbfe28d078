// SPDX-License-Identifier: MIT
/* Opcodes, which of them follow which, and the events that this comes from. */
#include <inttypes.h>
#include <string.h>

#include "html.h"
#include "html_page.h"
#include "model/opcodes.h"

#define MATRIX 16 /* opcodes on each side of the matrix */
#define SHADES 9  /* classes h1 to h9 of report.css */

static void write_opcode(FILE *f, const struct opcode_row *row)
{
	fputs("<code>", f);
	html_text(f, row->base);
	fputs("</code>", f);
	if (!strcmp(row->base, row->specialized))
		return;
	fputs(" &rarr; <code class=special>", f);
	html_text(f, row->specialized);
	fputs("</code>", f);
}

/* Times if they were measured, else counts. */
static void write_row(struct page *page, const void *of, size_t i)
{
	const struct opcodes *o = of;
	const struct opcode_row *row = &o->rows[i];
	bool measured = o->source == OPCODES_MEASURED;
	double all = measured ? o->cycles : o->n, part = measured ? row->cycles : row->n;
	FILE *f = page->f;

	fputs("<tr>", f);
	html_share(f, all > 0 ? part / all : 0);
	html_number(f, row->n);
	if (measured) {
		html_number(f, row->cycles);
		html_number(f, opcode_per_call(row));
	}
	fputs("<td>", f);
	write_opcode(f, row);
	fputs("</td></tr>\n", f);
}

static void write_table(struct page *page, const struct opcodes *o)
{
	const struct page_table t = {
		.head = o->source == OPCODES_MEASURED
				? "<th>of cycles</th><th>count</th><th>cycles</th><th>each</th><th class=t>opcode</th>"
				: "<th>of count</th><th>count</th><th class=t>opcode</th>",
		.what = "opcodes",
		.n = o->nrows,
		.most = PAGE_OPCODES,
		.row = write_row,
		.of = o,
	};

	page_table(page, &t);
}

/* The rows or columns of the matrix: the opcodes that ran most often. */
struct side {
	uint32_t rows[MATRIX];
	uint32_t n;
};

static struct side side_of(const struct opcodes *o)
{
	struct side s = { .n = 0 };

	for (uint32_t i = 0; i < o->nrows; i++) {
		uint32_t at = s.n < MATRIX ? s.n++ : MATRIX;

		for (; at > 0 && o->rows[s.rows[at - 1]].n < o->rows[i].n; at--)
			if (at < MATRIX)
				s.rows[at] = s.rows[at - 1];
		if (at < MATRIX)
			s.rows[at] = i;
	}
	return s;
}

static void fill_cells(const struct opcodes *o, const struct side *s, uint64_t cells[MATRIX][MATRIX])
{
	for (uint32_t i = 0; i < o->npairs; i++)
		for (uint32_t from = 0; from < s->n; from++)
			for (uint32_t to = 0; to < s->n; to++)
				if (o->pairs[i].from == s->rows[from] && o->pairs[i].to == s->rows[to])
					cells[from][to] = o->pairs[i].n;
}

static void write_cell(FILE *f, uint64_t n, uint64_t all)
{
	double part = all ? (double)n / all : 0;

	if (n)
		fprintf(f, "<td class=h%d title=\"%" PRIu64 "\">%.0f</td>", (int)(part * (SHADES - 0.01)) + 1, n,
			100 * part);
	else
		fputs("<td></td>", f);
}

static void write_matrix(struct page *page, const struct opcodes *o)
{
	uint64_t cells[MATRIX][MATRIX] = { { 0 } };
	struct side s = side_of(o);
	FILE *f = page->f;

	fill_cells(o, &s, cells);
	fputs("<h3>Which opcode follows which</h3>\n<p class=note>How often, in per cent, the opcode of the column "
	      "ran right after that of the row.</p>\n"
	      "<div class=scroll><table class=matrix>\n<thead><tr><td></td>",
	      f);
	for (uint32_t to = 0; to < s.n; to++) {
		fputs("<th><span>", f);
		html_text(f, o->rows[s.rows[to]].specialized);
		fputs("</span></th>", f);
	}
	fputs("</tr></thead>\n<tbody>\n", f);
	for (uint32_t from = 0; from < s.n; from++) {
		fputs("<tr><th><code>", f);
		html_text(f, o->rows[s.rows[from]].specialized);
		fputs("</code></th>", f);
		for (uint32_t to = 0; to < s.n; to++)
			write_cell(f, cells[from][to], opcodes_followed(o, s.rows[from]));
		fputs("</tr>\n", f);
	}
	fputs("</tbody>\n</table></div>\n", f);
}

static const char *meaning(const struct profile *p, enum opcodes_source source)
{
	switch (source) {
	case OPCODES_MEASURED:
		if (!profile_instrumented(p))
			return "Read from branch packets: opcodes as they ran, specialized; cycles run to the "
			       "thread's next instruction; the only callbacks included are those of calls.";
		return "Measured by INSTRUCTION events, which prevent specialization; cycles run to the "
		       "thread's next instruction, one callback included.";
	case OPCODES_DERIVED:
		return "Derived, not measured: as though each trip of a loop ran every instruction of its "
		       "block once, and each call those outside of loops.";
	default:
		return "Not known: neither instructions nor back-edges were recorded (modes adaptive, precise "
		       "and full record them).";
	}
}

int page_opcodes(struct page *page)
{
	struct opcodes o = { .source = opcodes_source(page->p) };
	int err = opcodes_add_program(&o, page->p);

	if (!err) {
		opcodes_sort(&o, o.source == OPCODES_MEASURED ? OPCODES_BY_TIME : OPCODES_BY_COUNT);
		fprintf(page->f, "<section id=opcodes>\n<h2>Opcodes</h2>\n<p class=note>%s</p>\n",
			meaning(page->p, o.source));
		if (o.nrows)
			write_table(page, &o);
		if (o.npairs)
			write_matrix(page, &o);
		fputs("</section>\n", page->f);
	}
	opcodes_free(&o);
	return err;
}

int page_events(struct page *page)
{
	const struct profile *p = page->p;
	double seconds = p->traced_ns / 1e9;

	fputs("<section id=events>\n<h2>Events</h2>\n<table class=narrow>\n<thead><tr><th class=t>event</th>"
	      "<th>count</th><th>a second of all threads&#39; time</th></tr></thead>\n<tbody>\n",
	      page->f);
	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++) {
		if (!p->events[op])
			continue;
		fprintf(page->f, "<tr><td><code>%s</code></td>", sample_op_name(op));
		html_number(page->f, p->events[op]);
		if (seconds > 0)
			html_number(page->f, p->events[op] / seconds);
		else
			html_dash(page->f);
		fputs("</tr>\n", page->f);
	}
	fputs("</tbody>\n</table>\n</section>\n", page->f);
	return 0;
}
