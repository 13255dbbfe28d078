// SPDX-License-Identifier: MIT
/* What ran as machine code of CPython's JIT, where there is one. */
#include <errno.h>
#include <stdlib.h>

#include "code/compiled.h"
#include "html.h"
#include "html_page.h"

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct compiled_row *row = (const struct compiled_row *)of + i;
	const struct function *fn = row->code->function;

	fputs("<tr>", page->f);
	html_share(page->f, page->p->traced_ns ? (double)row->ns / page->p->traced_ns : 0);
	html_duration(page->f, row->ns);
	html_number(page->f, row->n);
	html_share(page->f, fn && fn->self_ns ? (double)row->ns / fn->self_ns : 0);
	fputs("<td>", page->f);
	page_place(page, row->code, row->line ? row->line : row->code->firstlineno);
	fputs("</td></tr>\n", page->f);
}

static void write_section(struct page *page, const struct compiled_row *rows, size_t n)
{
	const struct page_table t = {
		.head = "<th>share</th><th>time</th><th>runs</th><th>of self</th><th class=t>loop</th>",
		.what = "loops",
		.n = n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = rows,
	};

	fputs("<section id=compiled>\n<h2>Compiled code</h2>\n", page->f);
	if (n) {
		fputs("<p class=note>Time in code of the JIT, its share of the time of all threads, and its part of "
		      "the function's self time; the rest was "
		      "interpreted. At the function's first line: which of its loops is not known.</p>\n",
		      page->f);
		page_table(page, &t);
	} else if (page->p->events[OP_JUMP] || page->p->events[OP_INSTRUCTION]) {
		fputs("<p class=note>The JIT was on, but the events of this mode keep loops interpreted.</p>\n",
		      page->f);
	} else {
		fputs("<p class=note>The JIT was on. How much of the time was compiled code is not known: only the "
		      "emulated processor tells, of a whole recording.</p>\n",
		      page->f);
	}
	fputs("</section>\n", page->f);
}

int page_compiled(struct page *page)
{
	size_t n = 0;
	struct compiled_row *rows;

	if (!profile_jit(page->p))
		return 0;
	rows = compiled_rows(page->p->codes, &n);
	if (rows)
		write_section(page, rows, page->p->zoomed ? 0 : n);
	free(rows);
	return rows ? 0 : -ENOMEM;
}
