// SPDX-License-Identifier: MIT
/* Which functions had the GIL while other threads waited for it. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "summed_rows.h"

struct holders {
	struct holder *all;
	uint64_t waited_ns;
};

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct holders *h = of;
	const struct holder *row = &h->all[i];

	fputs("<tr>", page->f);
	html_share(page->f, h->waited_ns ? (double)row->at.most / h->waited_ns : 0);
	html_duration(page->f, row->at.most);
	html_number(page->f, row->calls);
	fputs("<td>", page->f);
	page_place(page, row->at.code, row->at.code->firstlineno);
	fputs("</td></tr>\n", page->f);
}

static void write_section(struct page *page, const struct holders *h, size_t n)
{
	const struct page_table t = {
		.head = "<th>share</th><th>had it</th><th>calls</th><th class=t>function</th>",
		.what = "functions",
		.n = n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = h,
	};

	fputs("<section id=gil>\n<h2>Who had the GIL while others waited for it</h2>\n"
	      "<p class=note>Of the time of all threads that waited for it. What is missing nobody had: who was to get "
	      "it had no CPU yet.</p>\n",
	      page->f);
	page_table(page, &t);
	fputs("</section>\n", page->f);
}

int page_gil(struct page *page)
{
	size_t n;
	struct holders h = { summed_holders(page->p, &n), summed_gil_ns(page->p) };

	if (!h.all)
		return -ENOMEM;
	if (n)
		write_section(page, &h, n);
	free(h.all);
	return 0;
}
