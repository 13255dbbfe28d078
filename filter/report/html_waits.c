// SPDX-License-Identifier: MIT
/* Which functions waited, and for what; and for which locks. */
#include <errno.h>
#include <stdlib.h>

#include "base/figure.h"
#include "html.h"
#include "html_page.h"
#include "joined.h"
#include "model/waits.h"
#include "shared/array.h"
#include "summed_rows.h"

struct row {
	const struct code *code; /* NULL: outside of all functions */
	enum wait_kind kind;
	bool idle;
	struct wait_total of;
};

struct rows {
	struct row *all;
	size_t n;
	uint64_t ns;
};

const char *page_wait(enum wait_kind kind)
{
	static const char *const names[WAIT_KINDS] = {
		[WAIT_FOR_GIL] = "the GIL",
		[WAIT_FOR_POLL] = "poll, for sockets or pipes",
		[WAIT_FOR_PROCESS] = "a child process",
		[WAIT_FOR_RING] = "room for markers: Ocular's recorder was behind",
	};

	return names[kind] ? names[kind] : wait_name(kind);
}

static int add_rows(struct rows *rows, const struct code *code, const struct waits *w, bool idle)
{
	for (enum wait_kind kind = 0; w && kind < WAIT_KINDS; kind++) {
		if (!w->of[kind].n)
			continue;
		if (!ARRAY_ONE_MORE(rows->all, rows->n))
			return -ENOMEM;
		rows->all[rows->n++] = (struct row){ code, kind, idle, w->of[kind] };
		rows->ns += w->of[kind].ns;
	}
	return 0;
}

/* Nobody waits for an idle worker of a pool: its waits are rows of their own. The longest wait is one or the other. */
static int add_function(struct rows *rows, const struct code *code)
{
	static const struct waits none;
	const struct waits *all = code->function->waits, *idle = code->function->idle ? code->function->idle : &none;
	struct waits told = all ? waits_minus(all, idle) : none;

	for (int kind = 0; kind < WAIT_KINDS; kind++)
		if (idle->of[kind].n && told.of[kind].longest_ns <= idle->of[kind].longest_ns)
			told.of[kind].longest_ns = 0;
	return add_rows(rows, code, &told, false) ?: add_rows(rows, code, idle, true);
}

static int by_kind(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (int)a->kind - (int)b->kind ?: a->idle - b->idle;
}

static int join(void *to, void *more)
{
	wait_total_join(&((struct row *)to)->of, &((struct row *)more)->of);
	return 0;
}

/* Most time first; what has the same stays in the order of functions. */
static int by_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->of.ns != b->of.ns)
		return a->of.ns < b->of.ns ? 1 : -1;
	if (!a->code || !b->code)
		return !!b->code - !!a->code;
	return code_order(a->code, b->code) ?: by_kind(a, b);
}

/* 0 or a negative errno. */
static int sum(const struct profile *p, struct rows *rows)
{
	ssize_t n = joined_rows(rows->all, rows->n, sizeof(*rows->all), p->codes, by_kind, join);

	if (n < 0)
		return n;
	rows->n = n;
	qsort(rows->all, rows->n, sizeof(*rows->all), by_time);
	return 0;
}

static void write_row(struct page *page, const void *of, size_t i)
{
	const struct rows *rows = of;
	const struct row *row = &rows->all[i];

	fputs("<tr>", page->f);
	html_share(page->f, rows->ns ? (double)row->of.ns / rows->ns : 0);
	html_duration(page->f, row->of.ns);
	html_number(page->f, row->of.n);
	if (row->of.longest_ns)
		html_duration(page->f, row->of.longest_ns);
	else
		html_dash(page->f);
	fprintf(page->f, "<td>%s</td><td>", row->idle ? "a job: an idle worker of a pool" : page_wait(row->kind));
	if (row->code)
		page_place(page, row->code, row->code->firstlineno);
	else
		fputs("outside of functions", page->f);
	fputs("</td></tr>\n", page->f);
}

static void write_section(struct page *page, struct rows *rows)
{
	const struct page_table t = {
		.head = "<th>share</th><th>waited</th><th>times</th><th>longest</th><th class=t>for</th>"
			"<th class=t>function</th>",
		.what = "waits",
		.n = rows->n,
		.most = PAGE_FUNCTIONS,
		.row = write_row,
		.of = rows,
	};

	char text[FIGURE];

	fputs("<section id=waits>\n<h2>What was waited for</h2>\n"
	      "<p class=note>As the program tells: waits in extension modules and libraries are missing. Threads wait "
	      "at the same time, so the times may add up to more than the wall time. Shares are of all that was "
	      "waited for.</p>\n",
	      page->f);
	if (waits_ns(&page->p->idle_waits))
		fprintf(page->f,
			"<p class=note>%s of it are workers of pools that had nothing to do and waited for a "
			"job.</p>\n",
			figure_duration(text, waits_ns(&page->p->idle_waits)));
	page_table(page, &t);
	fputs("</section>\n", page->f);
}

int page_waits(struct page *page)
{
	size_t n;
	struct code **all = profile_all_functions(page->p, &n, RANK_WAITS);
	struct rows rows = { 0 };
	int err = all ? add_rows(&rows, NULL, &page->p->outside_waits, false) : -ENOMEM;

	for (size_t i = 0; i < n && all && !err; i++)
		err = add_function(&rows, all[i]);
	err = err || !rows.n ? err : sum(page->p, &rows);
	if (!err && rows.n)
		write_section(page, &rows);
	free(rows.all);
	free(all);
	return err;
}

struct lock_rows {
	struct summed_lock *all;
	uint64_t ns;
};

static void write_lock(struct page *page, const void *of, size_t i)
{
	const struct lock_rows *rows = of;
	const struct summed_lock *l = &rows->all[i];

	fputs("<tr>", page->f);
	html_share(page->f, rows->ns ? (double)l->waited.ns / rows->ns : 0);
	html_duration(page->f, l->waited.ns);
	html_number(page->f, l->waited.n);
	html_duration(page->f, l->waited.longest_ns);
	fputs("<td>", page->f);
	page_place(page, l->at.code, l->line);
	fputs("</td></tr>\n", page->f);
}

int page_locks(struct page *page)
{
	struct page_table t = {
		.head = "<th>share</th><th>waited</th><th>times</th><th>longest</th><th class=t>made in</th>",
		.what = "locks",
		.most = PAGE_FUNCTIONS,
		.row = write_lock,
	};
	struct lock_rows rows = { .all = summed_locks(page->p, &t.n) };

	if (!rows.all)
		return -ENOMEM;
	for (size_t i = 0; i < t.n; i++)
		rows.ns += rows.all[i].waited.ns;
	t.of = &rows;
	if (t.n) {
		fputs("<section id=locks>\n<h2>Which locks</h2>\n"
		      "<p class=note>By the line that made them: a lock, or the condition, queue or event that it is "
		      "in. "
		      "Shares are of all waits for such locks.</p>\n",
		      page->f);
		page_table(page, &t);
		fputs("</section>\n", page->f);
	}
	free(rows.all);
	return 0;
}
