// SPDX-License-Identifier: MIT
/* Whose code the time is in: the program's own, the standard library's, that of site-packages, imports. */
#include <errno.h>
#include <stdlib.h>

#include "html.h"
#include "html_page.h"
#include "report.h"

struct origin_sum {
	struct summed sum;
	size_t functions;
};

static void add(struct origin_sum *to, const struct summed *s)
{
	to->functions++;
	to->sum.own_ns += s->own_ns;
	off_add(&to->sum.own_off, s->own_off);
	to->sum.waits_ns += s->waits_ns;
}

static void write_row(struct page *page, enum origin origin, const struct origin_sum *o)
{
	const struct report r = { .p = page->p };
	FILE *f = page->f;

	fprintf(f, "<tr data-of=%s>", origin_key(origin));
	html_share(f, report_share(&r, &o->sum));
	html_duration(f, o->sum.own_ns);
	if (profile_has_cpu(page->p)) {
		html_duration(f, o->sum.own_ns - o->sum.own_off.ns);
		html_duration(f, o->sum.own_off.waiting_ns);
	}
	html_number(f, o->functions);
	fprintf(f, "<td>%s</td></tr>\n", origin_name(origin));
}

int page_origins(struct page *page)
{
	struct origin_sum sums[ORIGINS] = { 0 };
	size_t n;
	struct summed *all = summed_functions(page->p, &n, true);

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add(&sums[all[i].origin], &all[i]);
	summed_free(all, n);
	if (!n)
		return 0;
	fprintf(page->f,
		"<section id=whose>\n<h2>Whose time</h2>\n<table>\n<thead><tr><th>share</th><th>self</th>%s"
		"<th>functions</th><th class=t>of</th></tr></thead>\n<tbody>\n",
		profile_has_cpu(page->p) ? "<th>on a CPU</th><th>waiting</th>" : "");
	for (int i = 0; i < ORIGINS; i++)
		if (sums[i].functions)
			write_row(page, (enum origin)i, &sums[i]);
	fputs("</tbody>\n</table>\n</section>\n", page->f);
	return 0;
}
