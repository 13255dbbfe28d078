// SPDX-License-Identifier: MIT
/* Greenlets, those of one function together. */
#include "html.h"
#include "html_page.h"

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct greenlet_total *t = &((const struct greenlet_total *)of)[i];

	fputs("<tr>", page->f);
	html_duration(page->f, t->running_ns);
	html_number(page->f, t->count);
	html_number(page->f, t->switches);
	page_name_cell(page, t->function ? t->function->qualname : t->number ? "(not known)" : "(others)");
	fputs("</tr>\n", page->f);
}

int page_greenlets(struct page *page)
{
	struct page_table t = {
		.head = "<th>running</th><th>greenlets</th><th>switches</th><th class=t>what they run</th>",
		.what = "functions",
		.most = PAGE_FUNCTIONS,
		.row = write_row,
	};
	struct greenlet_total *all = greenlets_by_function(&page->p->greenlets, &t.n);

	return page_section(page, "greenlets", "Greenlets", &t, all);
}
