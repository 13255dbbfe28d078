// SPDX-License-Identifier: MIT
/* Which exceptions were raised where, how far they went, and where most were handled. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "summed_rows.h"

static void write_handler(struct page *page, const struct handler *h)
{
	fputs("<td>", page->f);
	if (h)
		page_place(page, h->code, h->line ? h->line : h->code->firstlineno);
	else
		fputs("-", page->f);
	fputs("</td>", page->f);
}

static void write_row(struct page *page, const void *of, size_t n)
{
	const struct raised *r = &((const struct raised_row *)of)[n].of;

	fputs("<tr>", page->f);
	html_number(page->f, r->n);
	html_number(page->f, r->handled);
	html_number(page->f, r->dropped);
	html_number(page->f, r->left);
	html_number(page->f, r->frames_most);
	page_name_cell(page, r->type ? r->type->qualname : "?");
	fputs("<td>", page->f);
	page_place(page, r->code, r->line ? r->line : r->code->firstlineno);
	fputs("</td>", page->f);
	write_handler(page, raised_handler(r));
	fputs("</tr>\n", page->f);
}

static void write_section(struct page *page, const struct raised_row *rows, size_t n)
{
	const struct page_table t = {
		.head = "<th>raised</th><th>handled</th><th>dropped in C</th><th>by nobody</th><th>frames, at most</th>"
			"<th class=t>exception</th><th class=t>raised in</th><th class=t>most handled in</th>",
		.what = "places",
		.n = n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = rows,
	};

	fputs("<section id=exceptions>\n<h2>Exceptions</h2>\n"
	      "<p class=note>Each once, where it was first raised, however often it was raised again; frames are "
	      "activations that it ended.</p>\n",
	      page->f);
	page_table(page, &t);
	fputs("</section>\n", page->f);
}

int page_exceptions(struct page *page)
{
	size_t n;
	struct raised_row *rows = summed_raised(page->p, &n);

	if (!rows)
		return -ENOMEM;
	if (n)
		write_section(page, rows, n);
	summed_raised_free(rows, n);
	return 0;
}
