// SPDX-License-Identifier: MIT
/* What was imported, by what, and what took longest in it. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "shared/array.h"

#define INDENT 1.2 /* em a level */

struct tree {
	const struct import **all;
	size_t n;
};

static void write_row(struct page *page, const void *of, size_t n)
{
	const struct import *i = ((const struct tree *)of)->all[n];
	uint64_t ns;
	const struct code *most = import_most(i, &ns);

	fputs("<tr>", page->f);
	html_duration(page->f, i->self_ns);
	html_duration(page->f, i->total_ns);
	html_number(page->f, i->n);
	fprintf(page->f, "<td style=\"padding-left:%.1fem\">", 0.6 + INDENT * i->depth);
	html_elided(page->f, i->name, PAGE_NAME);
	fputs("</td>", page->f);
	html_share(page->f, most && i->self_ns ? (double)ns / i->self_ns : 0);
	fputs("<td>", page->f);
	if (most)
		page_place(page, most, most->firstlineno);
	fputs("</td></tr>\n", page->f);
}

static void write_section(struct page *page, const struct tree *tree)
{
	const struct page_table t = {
		.head = "<th>self</th><th>total</th><th>times</th><th class=t>import</th><th>of self</th>"
			"<th class=t>what took most</th>",
		.what = "imports",
		.n = tree->n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = tree,
	};

	fputs("<section id=imports>\n<h2>Imports</h2>\n"
	      "<p class=note>What a module imports while its body runs is below it; self is without that.</p>\n",
	      page->f);
	page_table(page, &t);
	fputs("</section>\n", page->f);
}

int page_imports(struct page *page)
{
	struct tree tree = { 0 };
	int err = 0;

	for (const struct import *i = NULL; !err && (i = imports_next(&page->p->imports, i));) {
		err = ARRAY_ONE_MORE(tree.all, tree.n) ? 0 : -ENOMEM;
		if (!err)
			tree.all[tree.n++] = i;
	}
	if (!err && tree.n)
		write_section(page, &tree);
	free(tree.all);
	return err;
}
