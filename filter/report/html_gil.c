// SPDX-License-Identifier: MIT
/* Which functions had the GIL while other threads waited for it. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"

struct holders {
	struct code **all; /* longest first */
	uint64_t waited_ns;
};

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct holders *h = of;
	const struct code *code = h->all[i];

	fputs("<tr>", page->f);
	html_share(page->f, h->waited_ns ? (double)code->function->gil_held_ns / h->waited_ns : 0);
	html_duration(page->f, code->function->gil_held_ns);
	html_number(page->f, code->function->calls);
	fputs("<td>", page->f);
	page_place(page, code, code->firstlineno);
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
	struct holders h = { 0 };
	size_t n = 0, held = 0;

	h.all = profile_functions(page->p, &n, RANK_GIL);
	if (!h.all)
		return -ENOMEM;
	for (uint64_t i = 0; i < page->p->threads; i++)
		h.waited_ns += page->p->thread_totals[i].gil_ns;
	while (held < n && h.all[held]->function->gil_held_ns)
		held++;
	if (held)
		write_section(page, &h, held);
	free(h.all);
	return 0;
}
