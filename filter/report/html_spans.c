// SPDX-License-Identifier: MIT
/* The program's own spans. */
#include "html.h"
#include "html_page.h"

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct span_total *t = ((const struct span_total *const *)of)[i];

	fputs("<tr>", page->f);
	html_duration(page->f, t->ns);
	html_number(page->f, t->n);
	html_duration(page->f, t->n ? t->ns / t->n : 0);
	html_duration(page->f, t->longest_ns);
	html_number(page->f, t->unfinished);
	page_name_cell(page, t->name->qualname);
	fputs("</tr>\n", page->f);
}

int page_spans(struct page *page)
{
	struct page_table t = {
		.head = "<th>wall</th><th>times</th><th>mean</th><th>longest</th><th>not ended</th><th "
			"class=t>span</th>",
		.what = "spans",
		.most = PAGE_FUNCTIONS,
		.row = write_row,
	};
	const struct span_total **all = spans_ranked(&page->p->spans, &t.n);

	return page_section(page, "spans", "The program's own spans", &t, all);
}
