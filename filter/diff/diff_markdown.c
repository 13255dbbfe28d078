// SPDX-License-Identifier: MIT
/*
 * For a comment on a pull request: the three lines that matter first, the rest folded. Of what is shown nothing can be
 * taken for Markdown or HTML: names are code spans, which end at a run of backquotes of the same length only.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/noise.h"
#include "base/text.h"
#include "diff_out.h"

#define FIRST 3	 /* lines */
#define PLACE 64 /* columns of a place with its folder */

struct change {
	const struct diff_pair *pair;
	enum diff_kind kind;
};

static const char *const units[DIFF_KINDS] = {
	[DIFF_LOOPS] = "cycles a trip",
	[DIFF_FUNCTIONS] = "self cycles a call",
};

static bool is_change(const struct diff_pair *p)
{
	return p->verdict == DIFF_SLOWER || p->verdict == DIFF_FASTER;
}

/* Functions first: their cycles are their own, while those of a trip have what it calls in them. Then the largest. */
static int by_weight(const void *x, const void *y)
{
	const struct change *a = x, *b = y;
	double m = fabs(a->pair->weight), n = fabs(b->pair->weight);

	if (a->kind != b->kind)
		return a->kind == DIFF_FUNCTIONS ? -1 : 1;
	return (m < n) - (m > n);
}

static bool is_told(const struct change *all, size_t n, const struct diff_item *loop)
{
	for (size_t i = 0; i < n && all[i].kind == DIFF_FUNCTIONS; i++)
		if (!strcmp(all[i].pair->b->file, loop->file) && !strcmp(all[i].pair->b->qualname, loop->qualname))
			return true;
	return false;
}

/* A loop of a function that is told of would say the same again. Returns how many are left. */
static size_t leave_out_told(struct change *all, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (all[i].kind == DIFF_FUNCTIONS || !is_told(all, left, all[i].pair->b))
			all[left++] = all[i];
	return left;
}

/* *n of them; NULL: no memory. */
static struct change *changes_of(const struct diff *d, size_t *n)
{
	struct change *all = calloc(d->n[DIFF_LOOPS] + d->n[DIFF_FUNCTIONS] + 1, sizeof(*all));

	*n = 0;
	for (int kind = 0; all && kind < DIFF_KINDS; kind++)
		for (size_t i = 0; i < d->n[kind]; i++)
			if (is_change(&d->pairs[kind][i]))
				all[(*n)++] = (struct change){ &d->pairs[kind][i], kind };
	if (!all)
		return NULL;
	qsort(all, *n, sizeof(*all), by_weight);
	*n = leave_out_told(all, *n);
	return all;
}

static size_t longest_quotes(const char *s)
{
	size_t most = 0;

	for (size_t n; *s; s += n ? n : 1) {
		n = strspn(s, "`");
		most = n > most ? n : most;
	}
	return most;
}

/* A code span, also in a table's cell: there a bar would end it, so a slash stands for one. */
static void write_code(FILE *f, const char *name)
{
	int quotes = (int)longest_quotes(name) + 1;

	for (int i = 0; i < quotes; i++)
		fputc('`', f);
	fputs(quotes > 1 ? " " : "", f);
	for (const char *s = name; *s; s++)
		fputs((const char[]){ *s == '|' ? '/' : *s, 0 }, f);
	fputs(quotes > 1 ? " " : "", f);
	for (int i = 0; i < quotes; i++)
		fputc('`', f);
}

static void write_plain(FILE *f, const char *text)
{
	char *plain = NULL;
	size_t size;
	FILE *m = open_memstream(&plain, &size);

	if (m)
		text_plain(m, text);
	if (m && !fclose(m))
		write_code(f, plain);
	free(plain);
}

static void write_place(FILE *f, const struct diff_item *i)
{
	char *name = diff_place(i, PLACE);

	if (name)
		write_plain(f, name);
	free(name);
}

static void write_change(FILE *f, const struct diff_pair *p)
{
	if (p->a->mean > 0)
		fprintf(f, "%+.1f %% ± %.1f %%", 100 * p->change, 100 * p->error);
	else
		fputs("new", f);
}

static void write_line(FILE *f, const struct change *c)
{
	const struct diff_pair *p = c->pair;
	char a[FIGURE], b[FIGURE];

	fputs(p->verdict == DIFF_SLOWER ? "- **slower** " : "- **faster** ", f);
	write_place(f, p->b);
	fputs(": ", f);
	write_change(f, p);
	fprintf(f, " (%s → %s %s)%s\n", figure_brief(a, p->a->mean), figure_brief(b, p->b->mean), units[c->kind],
		p->over ? ", over the limit" : "");
}

static void write_row(FILE *f, const struct change *c)
{
	const struct diff_pair *p = c->pair;
	char a[FIGURE], b[FIGURE];

	fprintf(f, "| %s | ", c->kind == DIFF_LOOPS ? "loop" : "function");
	write_place(f, p->b);
	fputs(" | ", f);
	write_change(f, p);
	fprintf(f, " | %s | %s |", figure_brief(a, p->a->mean), figure_brief(b, p->b->mean));
	fprintf(f, " %s | %s |\n", figure_brief(a, p->a->times), figure_brief(b, p->b->times));
}

static void write_rest(FILE *f, const struct diff_report *r, const struct change *all, size_t n)
{
	size_t end = n > FIRST + r->rows ? FIRST + r->rows : n;

	if (n <= FIRST)
		return;
	fprintf(f, "\n<details><summary>%zu more</summary>\n\n", n - FIRST);
	fputs("| | where | change | cycles A | cycles B | times A | times B |\n|---|---|--:|--:|--:|--:|--:|\n", f);
	for (size_t i = FIRST; i < end; i++)
		write_row(f, &all[i]);
	if (end < n)
		fprintf(f, "\nand %zu more\n", n - end);
	fputs("\n</details>\n", f);
}

static void write_sides(FILE *f, const struct diff_report *r)
{
	char a[FIGURE], b[FIGURE];

	fputs("\n<sub>A: ", f);
	write_plain(f, r->a->name);
	fputs(", B: ", f);
	write_plain(f, r->b->name);
	fprintf(f, "; %s and %s summed over threads; cycles of the ", figure_duration(a, r->a->traced_ns),
		figure_duration(b, r->b->traced_ns));
	write_plain(f, r->a->clock);
	fputs(" clock", f);
	if (r->a->hz > 0)
		fprintf(f, ", 1 cycle = %.3g ns", 1e9 / r->a->hz);
	fputs(r->cpu ? ", on a CPU, without waiting" : ", waiting included", f);
	if (r->a->losses || r->b->losses)
		fprintf(f, "; **lost or uncertain: %" PRIu64 " and %" PRIu64 "**", r->a->losses, r->b->losses);
	if (r->a->preempted >= NOISE_PREEMPTED || r->b->preempted >= NOISE_PREEMPTED)
		fprintf(f, "; noisy: preempted %.0f %% and %.0f %% of the time they could run", 100 * r->a->preempted,
			100 * r->b->preempted);
	if (r->a->coarse || r->b->coarse)
		fprintf(f, "; times of %s are interpolated", !r->b->coarse ? "A" : r->a->coarse ? "A and B" : "B");
	fputs("</sub>\n", f);
}

int diff_markdown(FILE *f, const struct diff_report *r)
{
	size_t n;
	struct change *all = changes_of(r->diff, &n);

	if (!all)
		return -ENOMEM;
	if (!n)
		fputs("- No call and no trip of a loop got slower or faster beyond the noise.\n", f);
	for (size_t i = 0; i < n && i < FIRST; i++)
		write_line(f, &all[i]);
	write_rest(f, r, all, n);
	write_sides(f, r);
	free(all);
	return 0;
}
