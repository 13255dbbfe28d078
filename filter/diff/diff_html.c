// SPDX-License-Identifier: MIT
/* The page's head, totals and tables. Rows of tables are those of the text: slower first, the largest weight first. */
#include "diff_html.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/noise.h"
#include "diff_overlay.h"
#include "report/html.h"
#include "report/html_frame.h"

void diff_html_place(FILE *f, const struct diff_item *item)
{
	fputs("<code class=name>", f);
	html_elided(f, item->qualname, DIFF_NAME);
	fputs("</code>", f);
	if (!strcmp(item->file, DIFF_C_FILE))
		return;
	fputs(" <span class=file title=\"", f);
	html_text_most(f, item->file);
	fputs("\">", f);
	html_elided(f, diff_file(item->file), DIFF_NAME);
	if (item->line > 0)
		fprintf(f, ":%" PRId64, item->line);
	fputs("</span>", f);
}

static void write_side(FILE *f, char name, const struct diff_side *s)
{
	char text[FIGURE], *version = strndup(s->python, strcspn(s->python, " "));

	fprintf(f, "<div><dt>%c</dt><dd><code>", name);
	html_elided(f, s->name, DIFF_NAME);
	fputs("</code><br><code class=file>", f);
	html_elided(f, s->argv, DIFF_NAME);
	fputs("</code><br><span class=file>Python ", f);
	html_elided(f, version ? version : "?", DIFF_NAME);
	fputs(", mode ", f);
	html_elided(f, s->mode, DIFF_NAME);
	fprintf(f, ", %s summed over threads</span>", figure_duration(text, s->traced_ns));
	if (s->losses)
		fprintf(f, "<br><b>%" PRIu64 " lost or uncertain</b> (see: ocular report)", s->losses);
	if (s->preempted >= NOISE_PREEMPTED)
		fprintf(f, "<br>noisy: preempted %.0f%% of the time it could run", 100 * s->preempted);
	if (s->coarse)
		fprintf(f, "<br>times are interpolated: the clock was read for one marker of %" PRIu32, s->coarse);
	fputs("</dd></div>\n", f);
	free(version);
}

static void write_head(struct diff_page *page)
{
	const struct diff_report *r = page->r;
	FILE *f = page->f;

	fputs("<header>\n<h1>Ocular</h1>\n<p class=program>two recordings compared</p>\n</header>\n<dl class=facts>\n",
	      f);
	write_side(f, 'A', r->a);
	write_side(f, 'B', r->b);
	fputs("<div><dt>Cycles</dt><dd>of the ", f);
	html_elided(f, r->a->clock, DIFF_NAME);
	fputs(" clock", f);
	if (r->a->hz > 0)
		fprintf(f, ", 1 cycle = %.3g ns", 1e9 / r->a->hz);
	fputs(r->cpu ? ":<br>on a CPU, without waiting" : ":<br>waiting included", f);
	if (r->scale != 1)
		fprintf(f, "<br>those of B times %.4f: its clock has another frequency", r->scale);
	fputs("</dd></div>\n</dl>\n"
	      "<nav><a href=#flame>Flame graph</a> <a href=#changed-functions>Functions</a> <a "
	      "href=#changed-loops>Loops</a> "
	      "<a href=#specialized>Specialization</a> <a href=#source>Source</a> <a href=#totals>Totals</a></nav>\n",
	      f);
}

static void write_error(FILE *f, const struct diff_pair *p)
{
	if (p->a->mean > 0)
		fprintf(f, "<td class=\"n wide\">&plusmn; %.1f%%</td>", 100 * p->error);
	else
		fputs("<td class=\"n wide\"></td>", f);
}

static void write_row(struct diff_page *page, const struct diff_pair *p)
{
	uint32_t place = diff_tree_place(&page->tree, p);
	FILE *f = page->f;

	fprintf(f, "<tr class=d-%s><td class=n>", diff_verdict_names[p->verdict]);
	diff_write_change(f, p->change, p->a->mean, p->b->mean);
	fputs(p->over ? " <b title=\"over the limit\">!</b></td>" : "</td>", f);
	write_error(f, p);
	html_number(f, p->a->mean);
	html_number(f, p->b->mean);
	fputs("<td class=graph>", f);
	diff_overlay(f, p, page->r->scale);
	fputs("</td>", f);
	html_number(f, p->a->times);
	html_number(f, p->b->times);
	fputs("<td>", f);
	diff_html_place(f, p->b);
	if (*p->how)
		fprintf(f, " <span class=file>(%s)</span>", p->how);
	if (place)
		fprintf(f, " <a href=#flame class=file data-place=%" PRIu32 ">in the flame graph</a>", place - 1);
	fputs("</td></tr>\n", f);
}

static void begin_table(FILE *f, enum diff_kind kind)
{
	fprintf(f,
		"<table class=changes>\n<thead><tr><th>change</th><th class=wide>error</th><th>A mean</th><th>B "
		"mean</th>"
		"<th class=t>%s</th><th>A %s</th><th>B %s</th><th class=t>%s</th></tr></thead>\n<tbody>\n",
		kind == DIFF_LOOPS ? "distributions" : "means, deviations", diff_words[kind].times,
		diff_words[kind].times, diff_words[kind].name);
}

/* Those of a verdict: the first visible, further ones folded. */
static void write_verdict(struct diff_page *page, enum diff_kind kind, enum diff_verdict v)
{
	const struct diff *d = page->r->diff;
	size_t n = diff_count(d, kind, v), shown = 0;

	if (!n)
		return;
	fprintf(page->f, "<h3>%zu %s, mean %s</h3>\n", n, diff_verdict_titles[v], diff_words[kind].unit);
	begin_table(page->f, kind);
	for (size_t i = 0; i < d->n[kind] && shown < DIFF_MOST; i++) {
		if (d->pairs[kind][i].verdict != v)
			continue;
		if (shown++ == DIFF_SIGHT) {
			fprintf(page->f, "</tbody>\n</table>\n<details class=rest><summary>%zu more</summary>\n",
				n - DIFF_SIGHT);
			begin_table(page->f, kind);
		}
		write_row(page, &d->pairs[kind][i]);
	}
	fputs("</tbody>\n</table>\n", page->f);
	if (shown < n)
		fprintf(page->f, "<p class=note>and %zu more: <code>ocular diff --json</code> has all</p>\n",
			n - shown);
	fputs(n > DIFF_SIGHT ? "</details>\n" : "", page->f);
}

static void write_legend(struct diff_page *page, enum diff_kind kind)
{
	static const char *const meanings[DIFF_KINDS] = {
		[DIFF_LOOPS] = "Distributions of the cycles of a trip, with waiting, over one logarithmic axis: ",
		[DIFF_FUNCTIONS] = "Means of the self cycles of a call, one deviation to either side: ",
	};
	bool known = kind == DIFF_FUNCTIONS;

	for (size_t i = 0; i < page->r->diff->n[kind] && !known; i++) {
		const struct diff_pair *p = &page->r->diff->pairs[kind][i];

		known = p->a && p->b && p->a->distribution && p->b->distribution;
	}
	fprintf(page->f, "<p class=note>%s<span class=key-a>A</span> is %s, <span class=key-b>B</span> %s.</p>\n",
		known ? meanings[kind]
		      : "These summaries have no distributions (made without <code>--for-diff</code>): means, and one "
			"deviation to either side. ",
		known && kind == DIFF_LOOPS ? "the outline" : "the upper line",
		known && kind == DIFF_LOOPS ? "is filled" : "the lower one");
}

static void write_kind(struct diff_page *page, const char *id, enum diff_kind kind)
{
	const struct diff_report *r = page->r;

	fprintf(page->f, "<section id=%s>\n<h2>%s</h2>\n", id, diff_words[kind].title);
	if (!r->diff->n[kind])
		fprintf(page->f, "<p class=note>No %s in either.</p>\n", diff_words[kind].names);
	else
		fprintf(page->f, "<p>Of %zu %s <b>%zu got slower</b>, <b>%zu faster</b>; ", r->diff->n[kind],
			diff_words[kind].names, diff_count(r->diff, kind, DIFF_SLOWER),
			diff_count(r->diff, kind, DIFF_FASTER));
	diff_write_rest(page->f, r, kind);
	if (r->diff->n[kind]) {
		fputs("</p>\n", page->f);
		write_legend(page, kind);
	}
	for (int v = DIFF_SLOWER; v <= (r->all ? DIFF_FEW : DIFF_FASTER); v++)
		write_verdict(page, kind, v);
	fputs("</section>\n", page->f);
}

static void write_totals(struct diff_page *page)
{
	FILE *f = page->f;

	fputs("<section id=totals>\n<h2>Totals</h2>\n<table class=narrow>\n<thead><tr><th "
	      "class=t>total</th><th>change</th>"
	      "<th>A</th><th>B</th><th class=t>remark</th></tr></thead>\n<tbody>\n",
	      f);
	for (size_t i = 0; i < DIFF_TOTALS; i++) {
		const struct diff_total *t = &page->r->totals[i];

		if (!t->known)
			continue;
		fprintf(f, "<tr><td>%s</td><td class=n>", t->name);
		diff_write_change(f, t->change, t->a, t->b);
		fputs("</td>", f);
		html_number(f, t->a);
		html_number(f, t->b);
		fprintf(f, "<td>%s</td></tr>\n", t->over ? "<b>over the limit</b>" : t->exact ? "exact" : "not judged");
	}
	fputs("</tbody>\n</table>\n", f);
	if (page->r->rules.fail_over >= 0)
		fprintf(f, "<p>%zu slower by more than %g%% (marked !), of those with at least %g%% of the time.</p>\n",
			page->r->diff->over + page->r->totals_over, 100 * page->r->rules.fail_over,
			100 * page->r->rules.share);
	fputs("</section>\n", f);
}

static int write_page(struct diff_page *page)
{
	int err;

	html_begin(page->f);
	write_head(page);
	err = diff_html_flame(page);
	write_kind(page, "changed-functions", DIFF_FUNCTIONS);
	write_kind(page, "changed-loops", DIFF_LOOPS);
	err = err ?: diff_html_specialized(page) ?: diff_html_source(page);
	write_totals(page);
	html_end(page->f);
	return err;
}

int diff_html(FILE *f, const struct diff_report *r)
{
	struct diff_page page = { .f = f, .r = r };
	int err;

	page.no_tree = diff_tree_make(&page.tree, r->diff, r->a, r->b);
	if (page.no_tree && page.no_tree != -ENOMEM) {
		diff_tree_free(&page.tree);
		page.tree = (struct diff_tree){ 0 };
	}
	err = page.no_tree == -ENOMEM ? -ENOMEM : write_page(&page);
	diff_tree_free(&page.tree);
	return err;
}
