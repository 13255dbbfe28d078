// SPDX-License-Identifier: MIT
/* How the interpreter specialized each function's instructions (specialization.h). */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "summed_rows.h"

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct specialized_row *row = (const struct specialized_row *)of + i;
	const struct specialization *s = &row->of;
	const uint32_t counts[] = { s->able, s->specialized, s->base, s->gained, s->lost, s->changed };

	fputs("<tr>", page->f);
	html_share(page->f, (double)s->specialized / s->able);
	for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
		html_number(page->f, counts[j]);
	fputs("<td>", page->f);
	page_place(page, row->at.code, row->at.code->firstlineno);
	fputs("</td></tr>\n", page->f);
}

/* The functions with instructions able to specialize, in their order. How many. */
static size_t choose(struct specialized_row *rows, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used < PAGE_FUNCTIONS; i++)
		if (rows[i].of.able)
			rows[used++] = rows[i];
	return used;
}

static void write_section(struct page *page, const struct specialized_row *rows, size_t n)
{
	const struct page_table t = {
		.head = "<th>specialized</th><th>able</th><th>specialized</th><th>stayed base</th><th>gained</th>"
			"<th>lost</th><th>changed</th><th class=t>function</th>",
		.what = "functions",
		.n = n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = rows,
	};

	fputs("<section id=specialization>\n<h2>Specialization</h2>\n", page->f);
	if (profile_instrumented(page->p)) {
		fputs("<p class=note>Not shown: base opcodes ran, because INSTRUCTION events prevent "
		      "specialization.</p>\n",
		      page->f);
	} else if (!n && !profile_specializes(page->p)) {
		fputs("<p class=note>None: a free-threaded CPython specializes nothing before 3.14.</p>\n", page->f);
	} else if (n) {
		fputs("<p class=note>Instructions that have specialized forms, of the functions with most time: "
		      "how they were at the end, and what came of them since they were first seen.</p>\n",
		      page->f);
		page_table(page, &t);
	} else {
		fputs("<p class=note>Not known: opcodes are read when a code object dies, or tracing stops in "
		      "order; which of them can be specialized stands in the code table.</p>\n",
		      page->f);
	}
	fputs("</section>\n", page->f);
}

int page_specialization(struct page *page)
{
	size_t n;
	struct specialized_row *rows = summed_specialization(page->p, &n);

	if (!rows)
		return -ENOMEM;
	write_section(page, rows, choose(rows, n));
	free(rows);
	return 0;
}
