// SPDX-License-Identifier: MIT
/* The top of the page, and what the sections share. */
#include "html_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "html.h"
#include "model/losses.h"
#include "report.h"

void page_name(struct page *page, const struct code *code)
{
	fputs("<code class=name>", page->f);
	html_elided(page->f, code->qualname, PAGE_NAME);
	fputs("</code>", page->f);
}

void page_file(struct page *page, const struct code *code, int64_t line)
{
	const char *brief = origin_path(code);

	fputs("<span class=file", page->f);
	if (strcmp(brief, code->file)) {
		fputs(" title=\"", page->f);
		html_text_most(page->f, code->file);
		fputc('"', page->f);
	}
	fputc('>', page->f);
	html_elided(page->f, brief, PAGE_NAME);
	if (line > 0)
		fprintf(page->f, ":%" PRId64, line);
	fputs("</span>", page->f);
}

void page_place(struct page *page, const struct code *code, int64_t line)
{
	page_name(page, code);
	fputc(' ', page->f);
	page_file(page, code, line);
}

void page_details(struct page *page, const struct summed *s)
{
	char text[SUMMED_DETAILS];

	if (*summed_details(s, text))
		fprintf(page->f, "<p class=note>%s</p>\n", text);
}

static void write_rows(struct page *page, const struct page_table *t, size_t from, size_t to)
{
	fprintf(page->f, "<div class=scroll>\n<table>\n<thead><tr>%s</tr></thead>\n<tbody>\n", t->head);
	for (size_t i = from; i < to; i++)
		t->row(page, t->of, i);
	fputs("</tbody>\n</table>\n</div>\n", page->f);
}

void page_table(struct page *page, const struct page_table *t)
{
	size_t shown = t->n < t->most ? t->n : t->most;

	if (shown <= PAGE_SIGHT + PAGE_SIGHT / 3) { /* not worth a click */
		write_rows(page, t, 0, shown);
	} else {
		write_rows(page, t, 0, PAGE_SIGHT);
		fprintf(page->f, "<details class=rest>\n<summary>%zu more %s</summary>\n", shown - PAGE_SIGHT, t->what);
		write_rows(page, t, PAGE_SIGHT, shown);
		fputs("</details>\n", page->f);
	}
	if (shown < t->n)
		fprintf(page->f,
			"<p class=note>%zu of %zu %s are on this page; the summary (--summary) "
			"has them all.</p>\n",
			shown, t->n, t->what);
}

int page_section(struct page *page, const char *id, const char *title, const struct page_table *t, void *of)
{
	struct page_table table = *t;

	if (!of)
		return -ENOMEM;
	table.of = of;
	if (t->n) {
		fprintf(page->f, "<section id=%s>\n<h2>%s</h2>\n", id, title);
		page_table(page, &table);
		fputs("</section>\n", page->f);
	}
	free(of);
	return 0;
}

void page_name_cell(struct page *page, const char *name)
{
	fputs("<td>", page->f);
	html_elided(page->f, name, PAGE_NAME);
	fputs("</td>", page->f);
}

static void write_fact(FILE *f, const char *name, const char *value)
{
	fprintf(f, "<div><dt>%s</dt><dd>", name);
	html_elided(f, value ? value : "not known", PAGE_NAME);
	fputs("</dd></div>\n", f);
}

static void write_count(FILE *f, const char *name, uint64_t n)
{
	fprintf(f, "<div><dt>%s</dt><dd>%" PRIu64 "</dd></div>\n", name, n);
}

static void write_time(FILE *f, const char *name, uint64_t ns)
{
	char text[FIGURE];

	fprintf(f, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, figure_duration(text, ns));
}

static void write_text(FILE *f, const char *what, void (*write)(FILE *f, const struct profile *p),
		       const struct profile *p)
{
	fprintf(f, "<div><dt>%s</dt><dd>", what);
	write(f, p);
	fputs("</dd></div>\n", f);
}

static void write_facts(FILE *f, const struct profile *p, const struct process *root)
{
	uint64_t events = 0;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		events += p->events[op];
	fputs("<dl class=facts>\n<div><dt>Clock</dt><dd>", f);
	report_clock(f, p);
	fputs("</dd></div>\n", f);
	if (root) {
		write_fact(f, "Mode", root->mode);
		write_fact(f, "Markers", root->backend);
	}
	write_time(f, "Wall time", p->end_ns - p->start_ns);
	write_time(f, "All threads", p->traced_ns);
	if (profile_has_cpu(p)) {
		write_time(f, "On a CPU", p->traced_ns - p->traced_off.ns);
		write_time(f, "Waiting", p->traced_off.waiting_ns);
		write_time(f, "Preempted", p->traced_off.ns - p->traced_off.waiting_ns);
	}
	if (profile_has_waits(p) || report_has_waits(p))
		write_text(f, "Waits", report_waits, p);
	if (collections_all(&p->collections).n)
		write_text(f, "Garbage collection", report_collections, p);
	if (p->exceptions.n)
		write_text(f, "Exceptions", report_exceptions, p);
	if (p->imports.first)
		write_text(f, "Imports", report_imports, p);
	if (p->duty.period_ns)
		write_time(f, "Traced in windows, of", p->duty.lived_ns);
	write_count(f, "Events", events);
	write_count(f, "Threads", p->threads);
	write_count(f, "Processes", p->processes);
	if (root)
		write_fact(f, "Python", root->python);
	if (profile_has_untold(p))
		write_fact(f, "Switches", GREENLETS_UNTOLD);
	if (p->events[OP_CALL])
		write_fact(f, "Calls", "CALL events kept them from being specialized");
	fputs("</dl>\n", f);
}

static void write_untraced(FILE *f, const struct profile *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *process = s->value;

		if (!process->untraced)
			continue;
		fprintf(f, "<li>process %d: ", process->pid);
		html_text(f, process->untraced);
		fputs("</li>\n", f);
	}
}

static void write_skipped(FILE *f, uint64_t n)
{
	if (n)
		fprintf(f, "<p class=skipped><b>%" PRIu64 "</b> %s</p>\n", n, losses_skipped(n));
}

#define UNMATCHED_COLUMNS 1000

static void write_unmatched(FILE *f, const struct profile *p)
{
	for (const struct unmatched *u = NULL; (u = codes_unmatched(p->codes, u));) {
		char *text = losses_unmatched(u, UNMATCHED_COLUMNS);

		fputs("<p class=unmatched>Matched nothing: ", f);
		html_text(f, text ? text : u->pattern);
		fputs("</p>\n", f);
		free(text);
	}
}

static void write_losses(FILE *f, const struct profile *p)
{
	struct loss rows[LOSSES];

	write_skipped(f, profile_skipped(p));
	write_unmatched(f, p);

	if (!losses_of(p, rows)) {
		fputs("<p class=\"losses none\">Nothing was lost.</p>\n", f);
		return;
	}
	fputs("<div class=\"losses some\"><h2>Lost or uncertain</h2>\n<ul>\n", f);
	for (int i = 0; i < LOSSES; i++)
		if (rows[i].count)
			fprintf(f, "<li data-loss=%s><b>%" PRIu64 "</b> %s</li>\n", rows[i].key, rows[i].count,
				rows[i].what);
	write_untraced(f, p);
	fputs("</ul>\n</div>\n", f);
}

static bool has_c_functions(const struct profile *p)
{
	size_t n = 0;

	free(profile_c_functions(p, &n, RANK_TIME));
	return n;
}

void page_head(struct page *page)
{
	const struct process *root = profile_root(page->p);
	const struct waits *waits = &page->p->all_waits;

	fputs("<header>\n<h1>Ocular</h1>\n", page->f);
	if (root && root->argv) {
		fputs("<p class=program><code>", page->f);
		html_elided(page->f, root->argv, 2 * PAGE_NAME);
		fputs("</code></p>\n", page->f);
	}
	fputs("</header>\n", page->f);
	write_losses(page->f, page->p);
	fprintf(page->f,
		"<nav>%s%s<a href=#functions>Functions</a> <a href=#loops>Loops</a> %s%s%s%s%s%s%s%s%s%s"
		"<a href=#source>Source</a> <a href=#opcodes>Opcodes</a> "
		"<a href=#specialization>Specialization</a> <a href=#events>Events</a></nav>\n",
		page->columns->cells.timed ? "<a href=#timeline>Timeline</a> " : "",
		page->flame.nnodes > 1 ? "<a href=#flame>Flame graph</a> " : "",
		page->p->spans.all.used ? "<a href=#spans>Spans</a> " : "",
		page->p->tasks.totals.used ? "<a href=#tasks>Tasks</a> " : "",
		page->p->requests.begun ? "<a href=#requests>Requests</a> " : "",
		page->p->greenlets.n ? "<a href=#greenlets>Greenlets</a> " : "",
		waits_ns(waits) ? "<a href=#waits>Waiting</a> " : "",
		has_c_functions(page->p) ? "<a href=#c-functions>C functions</a> " : "",
		profile_is_sampled(page->p) ? "<a href=#native>Sampled C functions</a> " : "",
		profile_jit(page->p) ? "<a href=#compiled>Compiled code</a> " : "",
		page->p->exceptions.n ? "<a href=#exceptions>Exceptions</a> " : "",
		page->p->imports.first ? "<a href=#imports>Imports</a> " : "");
}

void page_facts(struct page *page)
{
	write_facts(page->f, page->p, profile_root(page->p));
}
