// SPDX-License-Identifier: MIT
/* The C functions that Python functions were in, by samples. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "model/sampled.h"

struct row {
	const struct sampled_place *place;
	struct sampled_row of;
};

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct row *row = (const struct row *)of + i;
	const struct native_function *f = row->of.function;
	const struct code *code = row->place->code;
	uint64_t all = row->place->all.n;

	fputs("<tr><td>", page->f);
	page_place(page, code, code->firstlineno);
	fputs("</td>", page->f);
	html_share(page->f, (double)row->of.n / all);
	fprintf(page->f, "<td>&#177;%.1f%%</td>", 100 * sampled_error(row->of.n, all));
	html_share(page->f, (double)row->of.self / all);
	html_number(page->f, row->of.n);
	page_name_cell(page, f ? f->name : "[not in a code table]");
	page_name_cell(page, f ? f->object : "");
	fputs("</tr>\n", page->f);
}

/* Those of one function, up to PAGE_FUNCTIONS in all; *n are there. */
static int add_rows(struct row *rows, size_t *n, const struct profile *p, const struct sampled_place *place)
{
	size_t more = 0;
	struct sampled_row *all = sampled_rows(&place->all, &p->codes->natives, &more);

	for (size_t i = 0; all && i < more && *n < PAGE_FUNCTIONS; i++)
		rows[(*n)++] = (struct row){ place, all[i] };
	free(all);
	return all ? 0 : -ENOMEM;
}

static void write_note(struct page *page)
{
	const struct natives *n = &page->p->codes->natives;

	fputs("<p class=note>", page->f);
	if (n->error) {
		fputs("None: perf_event_open: ", page->f);
		html_text(page->f, n->error);
		fputs(". ", page->f);
	}
	fprintf(page->f,
		"%" PRIu64 " samples, at %" PRIu64 " Hz of the CPU time outside of the kernel, %" PRIu64
		" of them in no function; %" PRIu64 " samples or switches lost. Shares are of the Python function's "
		"samples, not of its exact time.</p>\n",
		page->p->samples, n->hz, page->p->outside_samples, n->lost);
}

static void write_section(struct page *page, const struct row *rows, size_t n)
{
	const struct page_table t = {
		.head = "<th class=t>function</th><th>in it</th><th>error</th><th>self</th><th>samples</th>"
			"<th class=t>C function</th><th class=t>of</th>",
		.what = "C functions",
		.n = n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = rows,
	};

	fputs("<section id=native>\n<h2>Sampled C functions</h2>\n", page->f);
	write_note(page);
	if (n)
		page_table(page, &t);
	fputs("</section>\n", page->f);
}

int page_native(struct page *page)
{
	struct row *rows = calloc(PAGE_FUNCTIONS, sizeof(*rows));
	size_t n = 0, used = 0;
	struct sampled_place *all = NULL;
	int err = rows ? 0 : -ENOMEM;

	if (!err && profile_is_sampled(page->p)) {
		all = sampled_places(page->p, &n);
		err = all ? 0 : -ENOMEM;
		for (size_t i = 0; i < n && !err; i++)
			err = add_rows(rows, &used, page->p, &all[i]);
		if (!err)
			write_section(page, rows, used);
	}
	if (all)
		sampled_places_free(all, n);
	free(rows);
	return err;
}
