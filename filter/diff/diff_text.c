// SPDX-License-Identifier: MIT
/* For people. Numbers first and names last, as in the console report: names have what is left of the line. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff_out.h"
#include "base/figure.h"
#include "base/noise.h"
#include "base/text.h"

#define NUMBERS	    48 /* columns before a name */
#define FIELD	    9
#define WHOLE_PATHS 100 /* columns of names that have them, as in the report */

const struct diff_words diff_words[DIFF_KINDS] = {
	[DIFF_LOOPS] = { "Loops", "cycles of a trip", "trips", "loop", "loops" },
	[DIFF_FUNCTIONS] = { "Functions", "self cycles of a call", "calls", "function", "functions" },
};

const char *diff_file(const char *file)
{
	const char *at = strrchr(file, '/');

	while (at && at > file && at[-1] != '/')
		at--;
	return at && at > file ? at : file;
}

static void write_name(FILE *f, const struct diff_item *i, const char *file)
{
	fputs(i->qualname, f);
	if (strcmp(i->file, DIFF_C_FILE))
		fprintf(f, ", %s", file);
	if (i->line > 0)
		fprintf(f, ":%" PRId64, i->line);
}

/* NULL: no memory. The caller frees it. */
static char *name_of(const struct diff_item *i, const char *file)
{
	char *name = NULL;
	size_t size;
	FILE *m = open_memstream(&name, &size);

	if (m)
		write_name(m, i, file);
	if (!m || fclose(m)) {
		free(name);
		return NULL;
	}
	return name;
}

/* In a wide column the whole path, else its last folder and name, or its name: what fits. Modules keep the folder. */
char *diff_place(const struct diff_item *i, size_t most)
{
	const char *slash = strrchr(i->file, '/'), *last = slash ? slash + 1 : i->file;
	const char *const files[] = { i->file, diff_file(i->file), last };
	size_t least = strcmp(i->qualname, "<module>") ? 2 : 1;
	char *name = NULL;

	for (size_t n = most < WHOLE_PATHS; n <= least; n++) {
		free(name);
		name = name_of(i, files[n]);
		if (!name || text_columns(name) <= most)
			break;
	}
	return name;
}

static size_t columns(const struct diff_report *r)
{
	return (r->width > DIFF_WIDTH ? r->width : DIFF_WIDTH) - NUMBERS;
}

static void write_place(FILE *f, const struct diff_report *r, const struct diff_item *i)
{
	char *name = diff_place(i, columns(r));

	if (name)
		text_elided(f, name, columns(r));
	free(name);
}

/* Six characters: "+12.5%", " +104%", "  12x". */
static void write_change(FILE *f, double change)
{
	char text[FIGURE];

	if (fabs(change) < 0.9995)
		snprintf(text, sizeof(text), "%+.1f%%", 100 * change);
	else if (change < 9)
		snprintf(text, sizeof(text), "%+.0f%%", 100 * change);
	else
		snprintf(text, sizeof(text), "%.0fx", change + 1 < 1e5 ? change + 1 : 99999);
	fprintf(f, "%6s", text);
}

void diff_write_change(FILE *f, double change, double a, double b)
{
	if (a > 0 || b <= 0)
		write_change(f, change);
	else
		fputs("   new", f);
}

static void write_number(FILE *f, double n)
{
	char text[FIGURE];

	fprintf(f, " %7s", figure_brief(text, n));
}

static void write_pair(FILE *f, const struct diff_report *r, const struct diff_pair *p)
{
	diff_write_change(f, p->change, p->a->mean, p->b->mean);
	if (p->a->mean > 0)
		fprintf(f, " %5.*f%%", p->error < 0.1 ? 1 : 0, 100 * (p->error < 9.99 ? p->error : 9.99));
	else
		fprintf(f, " %6s", "");
	write_number(f, p->a->mean);
	write_number(f, p->b->mean);
	write_number(f, p->a->times);
	write_number(f, p->b->times);
	fputs(p->over ? " ! " : "   ", f);
	write_place(f, r, p->b);
	if (*p->how)
		fprintf(f, "\n%*s(%s)", NUMBERS + 1, "", p->how);
	fputc('\n', f);
}

size_t diff_count(const struct diff *d, enum diff_kind kind, enum diff_verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n[kind]; i++)
		n += d->pairs[kind][i].verdict == v;
	return n;
}

const char *const diff_verdict_titles[DIFF_VERDICTS] = {
	[DIFF_SLOWER] = "slower",
	[DIFF_FASTER] = "faster",
	[DIFF_NOISE] = "within the noise",
	[DIFF_SAME] = "the same",
	[DIFF_FEW] = "timed too rarely to judge",
	[DIFF_GONE] = "only in A",
	[DIFF_NEW] = "only in B",
};

static void write_verdict(FILE *f, const struct diff_report *r, enum diff_kind kind, enum diff_verdict v)
{
	size_t n = diff_count(r->diff, kind, v), shown = 0;

	if (!n)
		return;
	fprintf(f, "\n%s %s, mean %s\n", diff_words[kind].title, diff_verdict_titles[v], diff_words[kind].unit);
	fprintf(f, "change     +-  A mean  B mean A %s B %s   %s\n", diff_words[kind].times, diff_words[kind].times,
		diff_words[kind].name);
	for (size_t i = 0; i < r->diff->n[kind] && shown < r->rows; i++)
		if (r->diff->pairs[kind][i].verdict == v) {
			write_pair(f, r, &r->diff->pairs[kind][i]);
			shown++;
		}
	if (shown < n)
		fprintf(f, "and %zu more; --rows, or --json, shows them\n", n - shown);
}

static void write_lone(FILE *f, const struct diff_report *r, enum diff_kind kind, enum diff_verdict v)
{
	size_t n = diff_count(r->diff, kind, v), shown = 0;

	if (!n || !r->all)
		return;
	fprintf(f, "\n%s only in %c\n", diff_words[kind].title, v == DIFF_GONE ? 'A' : 'B');
	for (size_t i = 0; i < r->diff->n[kind] && shown < r->rows; i++) {
		const struct diff_pair *p = &r->diff->pairs[kind][i];

		if (p->verdict != v)
			continue;
		fprintf(f, "%5.1f%% ", 100 * (p->a ? p->a : p->b)->share);
		write_place(f, r, p->a ? p->a : p->b);
		fputc('\n', f);
		shown++;
	}
	if (shown < n)
		fprintf(f, "and %zu more\n", n - shown);
}

void diff_write_rest(FILE *f, const struct diff_report *r, enum diff_kind kind)
{
	static const struct {
		enum diff_verdict verdict;
		const char *what;
	} rest[] = {
		{ DIFF_NOISE, "within the noise" },
		{ DIFF_SAME, "the same" },
		{ DIFF_FEW, "timed too rarely to judge" },
		{ DIFF_GONE, "only in A" },
		{ DIFF_NEW, "only in B" },
	};
	const char *before = "";

	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		size_t n = diff_count(r->diff, kind, rest[i].verdict);

		if (n)
			fprintf(f, "%s%zu %s", before, n, rest[i].what);
		before = n ? ", " : before;
	}
	fputs(*before ? "\n" : "", f);
}

static void write_kind(FILE *f, const struct diff_report *r, enum diff_kind kind)
{
	if (!r->diff->n[kind]) {
		fprintf(f, "\nNo %s in either.\n", diff_words[kind].names);
		return;
	}
	write_verdict(f, r, kind, DIFF_SLOWER);
	write_verdict(f, r, kind, DIFF_FASTER);
	for (int v = DIFF_NOISE; v <= DIFF_FEW && r->all; v++)
		write_verdict(f, r, kind, v);
	write_lone(f, r, kind, DIFF_GONE);
	write_lone(f, r, kind, DIFF_NEW);
	fprintf(f, "\nOf %zu %s %zu got slower, %zu faster.\n", r->diff->n[kind], diff_words[kind].names,
		diff_count(r->diff, kind, DIFF_SLOWER), diff_count(r->diff, kind, DIFF_FASTER));
	diff_write_rest(f, r, kind);
}

static void write_opcode(const struct diff_opcode *o, void *to)
{
	fprintf(to, "  offset %" PRId64 ", line %" PRId64 ": ", o->offset, o->line);
	text_plain(to, o->base);
	fputs(" as ", to);
	text_plain(to, o->a);
	fputs(" -> ", to);
	text_plain(to, o->b);
	fputc('\n', to);
}

static void write_loop_opcodes(FILE *f, const struct diff_report *r, const struct diff_pair *p)
{
	write_place(f, r, p->b);
	fputc('\n', f);
	diff_opcodes(p, write_opcode, f);
}

static void write_function_opcodes(FILE *f, const struct diff_report *r, const struct diff_pair *p)
{
	struct diff_specialized s;

	diff_specialized(p, &s);
	write_place(f, r, p->b);
	fprintf(f, "\n  instructions specialized %" PRId64 " -> %" PRId64, s.a, s.b);
	if (s.base_a >= 0 && s.base_b >= 0)
		fprintf(f, ", could be but were not %" PRId64 " -> %" PRId64, s.base_a, s.base_b);
	fputc('\n', f);
}

static void write_specialized(FILE *f, const struct diff_report *r)
{
	static void (*const write[DIFF_KINDS])(FILE * f, const struct diff_report *r, const struct diff_pair *p) = {
		[DIFF_LOOPS] = write_loop_opcodes,
		[DIFF_FUNCTIONS] = write_function_opcodes,
	};

	for (int kind = 0; kind < DIFF_KINDS; kind++) {
		size_t n = 0;

		for (size_t i = 0; i < r->diff->n[kind]; i++) {
			if (!diff_is_otherwise(&r->diff->pairs[kind][i], kind))
				continue;
			if (!n++)
				fprintf(f, "\n%s specialized differently, A -> B\n", diff_words[kind].title);
			if (n <= r->rows)
				write[kind](f, r, &r->diff->pairs[kind][i]);
		}
		if (n > r->rows)
			fprintf(f, "and %zu more\n", n - r->rows);
	}
}

static void write_totals(FILE *f, const struct diff_report *r)
{
	fputs("\nTotals           change       A       B\n", f);
	for (size_t i = 0; i < DIFF_TOTALS; i++) {
		const struct diff_total *t = &r->totals[i];

		if (!t->known)
			continue;
		fprintf(f, "%-16s ", t->name);
		diff_write_change(f, t->change, t->a, t->b);
		write_number(f, t->a);
		write_number(f, t->b);
		fputs(t->over ? " !\n" : t->exact ? "\n" : "   not judged\n", f);
	}
}

static void write_counts(FILE *f, const struct diff_report *r)
{
	size_t i;

	for (i = 0; i < r->ncounts && r->counts[i].a != r->counts[i].b; i++) {
		const struct diff_count *c = &r->counts[i];

		if (!i)
			fprintf(f, "\nOpcodes, how often they ran (%s)\nchange       A       B   opcode\n",
				diff_counts_source(r->a, r->b));
		if (i >= r->rows)
			continue;
		diff_write_change(f, c->a > 0 ? c->b / c->a - 1 : 0, c->a, c->b);
		write_number(f, c->a);
		write_number(f, c->b);
		fputs("   ", f);
		text_plain(f, c->base);
		if (strcmp(c->base, c->specialized)) {
			fputs(" as ", f); /* an arrow would be from A to B */
			text_plain(f, c->specialized);
		}
		fputc('\n', f);
	}
	if (i > r->rows)
		fprintf(f, "and %zu more\n", i - r->rows);
}

/* "3.13.0" from sys.version. */
static void write_version(FILE *f, const char *python)
{
	char *version = strndup(python, strcspn(python, " "));

	if (version)
		text_plain(f, version);
	free(version);
}

static void write_side(FILE *f, const struct diff_report *r, char name, const struct diff_side *s)
{
	size_t most = columns(r) + NUMBERS - FIELD;
	char text[FIGURE];

	fprintf(f, "%c        ", name);
	text_elided(f, s->name, most);
	fputs("\n         ", f);
	text_elided(f, s->argv, most);
	fputs("\n         Python ", f);
	write_version(f, s->python);
	fputs(", mode ", f);
	text_plain(f, s->mode);
	fprintf(f, ", %s summed over threads", figure_duration(text, s->traced_ns));
	if (s->losses)
		fprintf(f, "\n         LOST OR UNCERTAIN: %" PRIu64 " (see: ocular report)", s->losses);
	if (s->preempted >= NOISE_PREEMPTED)
		fprintf(f, "\n         noisy: preempted %.0f%% of the time it could run", 100 * s->preempted);
	if (s->coarse)
		fprintf(f, "\n         times are interpolated: the clock was read for one marker of %" PRIu32,
			s->coarse);
	fputc('\n', f);
}

/* What a cycle is, and when a difference counts. */
static void write_rules(FILE *f, const struct diff_report *r)
{
	fputs("Cycles   of the ", f);
	text_plain(f, r->a->clock);
	fputs(" clock", f);
	if (r->a->hz > 0)
		fprintf(f, ", 1 cycle = %.3g ns", 1e9 / r->a->hz);
	fputs(r->cpu ? "; on a CPU, without waiting\n" : "; waiting included\n", f);
	if (r->scale != 1)
		fprintf(f, "         those of B times %.4f: its clock has another frequency\n", r->scale);
	if (!r->rules.exact)
		fprintf(f, "Noise    differences below %g standard errors (+- is one)%s\n", DIFF_SIGMAS,
			r->all ? "" : "; --all shows them");
}

void diff_text(FILE *f, const struct diff_report *r)
{
	write_side(f, r, 'A', r->a);
	write_side(f, r, 'B', r->b);
	write_rules(f, r);
	for (int kind = 0; kind < DIFF_KINDS; kind++)
		write_kind(f, r, kind);
	write_specialized(f, r);
	write_counts(f, r);
	write_totals(f, r);
	if (r->rules.fail_over >= 0)
		fprintf(f, "\n%zu slower by more than %g%% (marked !), of those with at least %g%% of the time.\n",
			r->diff->over + r->totals_over, 100 * r->rules.fail_over, 100 * r->rules.share);
}
