// SPDX-License-Identifier: MIT
/* The functions and the loops of the page, in the one order in which all sections have them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "report.h"

static bool is_worth(const struct profile *p, const struct summed *s)
{
	uint64_t waiting = s->own_off.waiting_ns, busy = summed_own_busy(p, s);

	return (busy && busy >= PAGE_SHARE * summed_all_busy(p)) ||
	       (profile_has_cpu(p) && waiting && waiting >= PAGE_SHARE * p->traced_off.waiting_ns);
}

/* What is worth a row comes first; otherwise all stays in its order. */
static int keep(struct page_list *list, const struct profile *p)
{
	struct summed *rest = calloc(list->n + 1, sizeof(*rest));
	size_t n = 0;

	if (!rest)
		return -ENOMEM;
	for (size_t i = 0; i < list->n; i++)
		if (is_worth(p, &list->all[i]))
			list->all[list->kept++] = list->all[i];
		else
			rest[n++] = list->all[i];
	for (size_t i = 0; i < n; i++)
		list->all[list->kept + i] = rest[i];
	free(rest);
	if (list->kept < PAGE_SIGHT)
		list->kept = list->n < PAGE_SIGHT ? list->n : PAGE_SIGHT;
	return 0;
}

int page_lists(struct page *page)
{
	page->functions.all = summed_functions(page->p, &page->functions.n, true);
	page->loops.all = summed_loops(page->p, &page->loops.n, true);
	if (!page->functions.all || !page->loops.all)
		return -ENOMEM;
	return keep(&page->functions, page->p) ?: keep(&page->loops, page->p);
}

void page_lists_free(struct page *page)
{
	if (page->functions.all)
		summed_free(page->functions.all, page->functions.n);
	if (page->loops.all)
		summed_free(page->loops.all, page->loops.n);
}

void page_left_out(struct page *page, const struct page_list *list, const char *what)
{
	if (list->kept < list->n)
		fprintf(page->f,
			"<p class=note>%zu more %s have less than %.2f%% of the time each; the summary (--summary) has "
			"them.</p>\n",
			list->n - list->kept, what, 100 * PAGE_SHARE);
}

void page_link(struct page *page, const struct summed *s, const char *anchor, size_t i, size_t most)
{
	int64_t line = s->loop ? s->loop->line : s->code->firstlineno;

	if (i < most)
		fprintf(page->f, "<a href=#%s%zu>", anchor, i + 1);
	page_name(page, s->code);
	fputs(i < most ? "</a> " : " ", page->f);
	page_file(page, s->code, line);
}
