// SPDX-License-Identifier: MIT
/* The tables of functions, and of C functions. */
#include <errno.h>
#include <inttypes.h>

#include "html.h"
#include "html_page.h"
#include "report.h"

static void write_function(struct page *page, const void *of, size_t i)
{
	const struct summed *s = &((const struct summed *)of)[i];
	const struct function *fn = s->code->function;
	const struct report r = { .p = page->p };
	double lookups = report_lookups_share(&r, s);
	FILE *f = page->f;

	fprintf(f, "<tr data-of=%s>", origin_key(s->origin));
	html_share(f, report_share(&r, s));
	html_duration(f, s->own_ns);
	if (profile_has_cpu(page->p)) {
		html_duration(f, s->own_ns - s->own_off.ns);
		html_duration(f, s->own_off.waiting_ns);
	}
	html_duration(f, s->ns);
	html_number(f, s->n);
	html_number(f, fn->recursive_calls);
	if (fn->self_spread.n)
		html_duration(f, fn->self_ns / fn->self_spread.n);
	else
		html_dash(f);
	fprintf(f, "<td class=of>%s</td><td>", s->code->c ? "C" : origin_name(s->origin));
	if (s->code->c)
		html_elided(f, s->code->qualname, PAGE_NAME);
	else
		page_link(page, s, "source", i, PAGE_SOURCES);
	if (s->pids.n > 1)
		fprintf(f, " <span class=file>in %" PRIu32 " processes</span>", s->pids.n);
	if (lookups)
		fprintf(f, " <span class=file>~%.0f%% of self: this CPython finds the lines of LINE events</span>",
			100 * lookups);
	fputs("</td></tr>\n", f);
}

#define FUNCTION_HEAD(times) \
	"<th>share</th><th>self wall</th>" times "<th>total wall</th><th>calls</th><th>recursive</th>" \
	"<th>mean self</th><th class=t>of</th><th class=t>function</th>"

static void write_functions(struct page *page, const char *id, const char *what, const struct page_list *list,
			    const char *note)
{
	bool cpu = profile_has_cpu(page->p);
	struct page_table t = {
		.head = cpu ? FUNCTION_HEAD("<th>self CPU</th><th>self wait</th>") : FUNCTION_HEAD(""),
		.what = what,
		.most = PAGE_FUNCTIONS,
		.row = write_function,
		.of = list->all,
		.n = list->kept,
	};

	fprintf(page->f, "<section id=%s>\n<h2>%s by self%s time</h2>\n", id, *what == 'f' ? "Functions" : what,
		cpu ? " CPU" : "");
	fprintf(page->f, "<p class=note>%sShares are of the %s of all threads.</p>\n", note, report_base(page->p));
	if (list->n)
		page_table(page, &t);
	else
		fputs("<p class=note>No function ran.</p>\n", page->f);
	page_left_out(page, list, what);
	fputs("</section>\n", page->f);
}

int page_functions(struct page *page)
{
	write_functions(page, "functions", "functions", &page->functions,
			"The program's own come first, then those of libraries. "
			"Mean self is of a call, of generators and coroutines of each time that they run. ");
	return 0;
}

int page_c_functions(struct page *page)
{
	struct page_list list = { 0 };

	list.all = summed_c_functions(page->p, &list.n);
	list.kept = list.n;
	if (!list.all)
		return -ENOMEM;
	if (list.n)
		write_functions(page, "c-functions", "C functions", &list, "");
	summed_free(list.all, list.n);
	return 0;
}
