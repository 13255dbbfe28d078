// SPDX-License-Identifier: MIT
/* What the page begins with: where wall, CPU time and waiting went, a bar each, and the program's hottest places. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/figure.h"
#include "html.h"
#include "html_page.h"
#include "report.h"

#define TOP 5

struct bar_piece {
	const char *key, *name; /* class of-KEY of report.css */
	uint64_t ns;
};

/* Shares are of the sum; pieces of nothing are left out. */
static void write_bar(FILE *f, const char *what, const struct bar_piece *pieces, size_t n)
{
	uint64_t sum = 0;
	char text[FIGURE];

	for (size_t i = 0; i < n; i++)
		sum += pieces[i].ns;
	if (!sum)
		return;
	fprintf(f, "<div class=where>\n<h3>%s <b>%s</b></h3>\n<div class=bar aria-hidden=true>", what,
		figure_duration(text, sum));
	for (size_t i = 0; i < n; i++)
		if (pieces[i].ns)
			fprintf(f, "<i class=of-%s style=\"width:%.2f%%\"></i>", pieces[i].key,
				100.0 * pieces[i].ns / sum);
	fputs("</div>\n<ul class=legend>", f);
	for (size_t i = 0; i < n; i++)
		if (pieces[i].ns * 1000 >= sum)
			fprintf(f, "<li data-of=%s><i class=of-%s></i>%s <b>%.1f%%</b> %s</li>", pieces[i].key,
				pieces[i].key, pieces[i].name, 100.0 * pieces[i].ns / sum,
				figure_duration(text, pieces[i].ns));
	fputs("</ul>\n</div>\n", f);
}

static void write_wall(struct page *page)
{
	const struct profile *p = page->p;
	const struct bar_piece pieces[] = {
		{ "cpu", "on a CPU", p->traced_ns - p->traced_off.ns },
		{ "waiting", "waiting", p->traced_off.waiting_ns },
		{ "preempted", "preempted: could run, but the CPU was given to something else",
		  p->traced_off.ns - p->traced_off.waiting_ns },
	};

	if (profile_has_cpu(p))
		write_bar(page->f, p->threads > 1 ? "Wall time, summed over threads" : "Wall time", pieces, 3);
	if (report_preempted(p) >= NOISE_PREEMPTED)
		fprintf(page->f,
			"<p class=note id=noise>Preempted %.0f%% of the time it could run: wall times and means are "
			"noisy. CPU times, medians and counts are less so.</p>\n",
			100 * report_preempted(p));
}

static void write_interpolated(const struct page *page)
{
	const struct report r = { .f = page->f, .p = page->p };

	if (!page->p->coarse)
		return;
	fputs("<p class=note id=interpolated>", page->f);
	report_interpolated(&r);
	fputs("</p>\n", page->f);
}

enum { BY_C = ORIGINS, BY_GC, BY_OUTSIDE, KINDS };

static uint64_t busy(const struct profile *p, uint64_t ns, struct off off)
{
	return profile_has_cpu(p) ? ns - off.ns : ns;
}

static int sum_busy(const struct page *page, struct bar_piece *pieces)
{
	const struct profile *p = page->p;
	struct collections_own own[GENERATIONS];
	struct summed *c;
	size_t n = 0;

	for (size_t i = 0; i < page->functions.n; i++)
		pieces[page->functions.all[i].origin].ns += busy(p, page->functions.all[i].own_ns,
								 page->functions.all[i].own_off);
	c = summed_c_functions(p, &n);
	for (size_t i = 0; c && i < n; i++)
		pieces[BY_C].ns += busy(p, c[i].own_ns, c[i].own_off);
	summed_free(c, n);
	profile_collections(p, own);
	for (int i = 0; i < GENERATIONS; i++)
		pieces[BY_GC].ns += busy(p, own[i].ns, own[i].off);
	pieces[BY_OUTSIDE].ns = busy(p, p->outside_ns, p->outside_off);
	return c ? 0 : -ENOMEM;
}

static int write_busy(struct page *page)
{
	struct bar_piece pieces[KINDS] = {
		[BY_C] = { "c", "C functions", 0 },
		[BY_GC] = { "gc", "garbage collections", 0 },
		[BY_OUTSIDE] = { "outside", "outside of functions", 0 },
	};
	int err;

	for (int i = 0; i < ORIGINS; i++) {
		pieces[i].key = origin_key((enum origin)i);
		pieces[i].name = origin_name((enum origin)i);
	}
	err = sum_busy(page, pieces);
	if (!err)
		write_bar(page->f, profile_has_cpu(page->p) ? "CPU time" : "Wall time", pieces, KINDS);
	return err;
}

/* What no call tells of is the rest: time off a CPU where the program says nothing. Nobody waits for an idle worker. */
static void write_waiting(struct page *page)
{
	const struct profile *p = page->p;
	struct waits waits = waits_minus(&p->all_waits, &p->idle_waits);
	struct bar_piece pieces[WAIT_KINDS + 2] = { 0 };
	uint64_t told = waits_ns(&p->all_waits), all = p->traced_off.waiting_ns;

	for (int i = 1; i < WAIT_KINDS; i++)
		pieces[i] = (struct bar_piece){ wait_name((enum wait_kind)i), page_wait((enum wait_kind)i),
						waits.of[i].ns };
	pieces[WAIT_KINDS] = (struct bar_piece){ "idle", "for work: idle workers of pools", waits_ns(&p->idle_waits) };
	pieces[WAIT_KINDS + 1] = (struct bar_piece){ "untold", "not told", all > told ? all - told : 0 };
	write_bar(page->f, "Waiting", pieces, WAIT_KINDS + 2);
}

static bool is_own(const struct summed *s)
{
	return s->origin == ORIGIN_OWN;
}

/* Has it any that is worth a row? Those come first. */
static bool has_own(const struct page *page, const struct page_list *list)
{
	const struct report r = { .p = page->p };

	return list->n && is_own(list->all) && report_share(&r, list->all) >= PAGE_SHARE;
}

/* The first few of the program's own, or, if it has none, of libraries, each a link to its details. */
static void write_top(struct page *page, const struct page_list *list, const char *what, const char *libraries,
		      const char *anchor, size_t most)
{
	const struct report r = { .p = page->p };
	bool own = has_own(page, list);
	size_t shown = 0;

	for (size_t i = 0; i < list->kept && shown < TOP; i++) {
		const struct summed *s = &list->all[i];

		if (report_share(&r, s) < PAGE_SHARE)
			break; /* the program's own come first, most time first */
		if (is_own(s) != own || s->origin == ORIGIN_IMPORTS)
			continue;
		if (!shown++)
			fprintf(page->f, "<div>\n<h3>%s with most %s</h3>\n<table>\n<tbody>\n", own ? what : libraries,
				profile_has_cpu(page->p) ? "CPU time" : "time");
		fputs("<tr>", page->f);
		html_share(page->f, report_share(&r, s));
		html_duration(page->f, summed_own_busy(page->p, s));
		fputs("<td>", page->f);
		page_link(page, s, anchor, i, most);
		fputs("</td></tr>\n", page->f);
	}
	if (shown)
		fputs("</tbody>\n</table>\n</div>\n", page->f);
}

int page_first(struct page *page)
{
	int err;

	if (!page->functions.n)
		return 0;
	fputs("<section id=first>\n<h2>Where the time went</h2>\n", page->f);
	write_interpolated(page);
	write_wall(page);
	err = write_busy(page);
	write_waiting(page);
	fputs("<div class=pair>\n", page->f);
	write_top(page, &page->functions, "The program's functions", "Libraries' functions", "source", PAGE_SOURCES);
	write_top(page, &page->loops, has_own(page, &page->functions) ? "Its loops" : "The program's loops",
		  "Libraries' loops", "loop", PAGE_BODIES);
	fputs("</div>\n<p class=note>", page->f);
	fprintf(page->f,
		"Read on: %s<a href=#functions>all functions</a>, <a href=#loops>all loops</a>, "
		"<a href=#source>source by line</a>.</p>\n</section>\n",
		page->flame.nnodes > 1 ? "<a href=#flame>which calls</a>, " : "");
	return err;
}
