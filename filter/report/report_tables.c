// SPDX-License-Identifier: MIT
/*
 * The first screen: the program's own functions and loops, and one row for all the rest of a kind. What a column needs
 * to be known is in its row of a table here, and so is how wide a terminal must be for it.
 */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "model/sink.h"
#include "model/stat.h"
#include "summed.h"
#include "table.h"

#define SCREEN		24 /* lines */
#define HEADS		4  /* of these: heads of the tables, and empty lines before them */
#define FUNCTIONS_LEAST 4  /* of the program's own, whatever else there is to tell */
#define LOOPS_SURE	3
#define LOOPS_LEAST	1
#define C_LARGE		3			/* C functions that are shown by name, because they have SHARE_C */
#define FOLDS		(ORIGINS + 4 + C_LARGE) /* rows of what is not own */
#define C_FUNCTIONS	20			/* rows of these, below the screen */
#define PARTS		10			/* rows of functions, and of what they are taken apart by */
#define LABEL		80			/* bytes of the text of one */

/* What takes less of the time than this is left out. */
#define SHARE_OUTSIDE 0.01
#define SHARE_C	      0.1

/* What must be known, or else a column is left out. */
enum need { ALWAYS = 0, NEED_CPU = 1, NEED_WAITS = 2, NEED_PROCESSES = 4, NEED_WHOLE = 8 };

struct figure_column {
	struct table_column column;
	unsigned from_many; /* column.from where processes have a column, too */
	unsigned needs;
	double (*of)(const struct report *r, const struct summed *s);
};

double report_share(const struct report *r, const struct summed *s)
{
	uint64_t all = summed_all_busy(r->p);

	return all ? (double)summed_own_busy(r->p, s) / all : 0;
}

double report_total_share(const struct report *r, const struct summed *s)
{
	uint64_t all = summed_all_busy(r->p);

	return all ? (double)summed_busy(r->p, s->ns, s->off, 0) / all : 0;
}

static double wall(const struct report *r, const struct summed *s)
{
	(void)r;
	return s->own_ns;
}

static double cpu(const struct report *r, const struct summed *s)
{
	(void)r;
	return s->own_ns - s->own_off.ns;
}

static double wait(const struct report *r, const struct summed *s)
{
	return profile_has_cpu(r->p) ? s->own_off.waiting_ns : s->waits_ns;
}

static double total(const struct report *r, const struct summed *s)
{
	(void)r;
	return s->ns;
}

static double number(const struct report *r, const struct summed *s)
{
	(void)r;
	return s->n;
}

static double processes(const struct report *r, const struct summed *s)
{
	(void)r;
	return s->pids.n;
}

static double timed(const struct summed *s, double value)
{
	return s->cycles.n ? value : NAN;
}

static double trip_cycles(const struct report *r, const struct summed *s)
{
	(void)r;
	return timed(s, stat_mean(&s->cycles));
}

/* Cycles of the core say nothing of time; those of recursive activations are in no sum of times. */
double report_trip_ns(const struct report *r, const struct summed *s)
{
	if (r->p->clock_hz || !strcmp(r->p->clock, "ns"))
		return timed(s, stat_mean(&s->cycles) * 1e9 / (r->p->clock_hz ? r->p->clock_hz : 1000000000));
	return timed(s, (double)s->ns / s->cycles.n);
}

static double trip_median(const struct report *r, const struct summed *s)
{
	(void)r;
	return timed(s, stat_quantile(&s->cycles, 0.5));
}

static double trip_p99(const struct report *r, const struct summed *s)
{
	(void)r;
	return timed(s, stat_quantile(&s->cycles, 0.99));
}

static double trip_most(const struct report *r, const struct summed *s)
{
	(void)r;
	return timed(s, s->cycles.max);
}

/* clang-format off */
static const struct figure_column function_columns[] = {
	{ { "share", COLUMN_SHARE, 0 }, 0, ALWAYS, report_share },
	{ { "wall", COLUMN_SPAN, 0 }, 0, ALWAYS, wall },
	{ { "cpu", COLUMN_SPAN, 0 }, 0, NEED_CPU, cpu },
	{ { "wait", COLUMN_SPAN, 0 }, 0, NEED_WAITS, wait },
	{ { "total", COLUMN_SPAN, 0 }, 90, NEED_WHOLE, total },
	{ { "calls", COLUMN_COUNT, 0 }, 0, ALWAYS, number },
	{ { "procs", COLUMN_COUNT, 0 }, 0, NEED_PROCESSES, processes },
};

static const struct figure_column loop_columns[] = {
	{ { "share", COLUMN_SHARE, 0 }, 0, ALWAYS, report_share },
	{ { "wall", COLUMN_SPAN, 0 }, 90, ALWAYS, wall },
	{ { "cpu", COLUMN_SPAN, 0 }, 0, NEED_CPU, cpu },
	{ { "wait", COLUMN_SPAN, 0 }, 0, NEED_CPU, wait },
	{ { "trips", COLUMN_COUNT, 0 }, 0, ALWAYS, number },
	{ { "a trip", COLUMN_SPAN, 0 }, 0, ALWAYS, report_trip_ns },
	{ { "cycles", COLUMN_COUNT, 0 }, 0, ALWAYS, trip_cycles },
	{ { "median", COLUMN_COUNT, 110 }, 110, ALWAYS, trip_median },
	{ { "p99", COLUMN_COUNT, 110 }, 110, ALWAYS, trip_p99 },
	{ { "max", COLUMN_COUNT, 110 }, 110, ALWAYS, trip_most },
	{ { "total", COLUMN_SHARE, 110 }, 110, ALWAYS, report_total_share },
	{ { "procs", COLUMN_COUNT, 0 }, 0, NEED_PROCESSES, processes },
};
/* clang-format on */

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

_Static_assert(COUNT(loop_columns) <= TABLE_COLUMNS, "a table's row has room for that many");

/* What is taken apart has neither total times nor the waits that the program tells of. */
static unsigned known(const struct report *r)
{
	const struct profile *p = r->p;
	unsigned cpu = profile_has_cpu(p) ? NEED_CPU | NEED_WAITS : 0;

	if (r->by)
		return cpu;
	return cpu | NEED_WHOLE | (profile_has_waits(p) ? NEED_WAITS : 0) | (p->processes > 1 ? NEED_PROCESSES : 0);
}

/* The columns whose needs are met, and rows of them. */
struct sheet {
	const struct figure_column *all;
	const struct figure_column *shown[TABLE_COLUMNS];
	struct table_column columns[TABLE_COLUMNS];
	size_t n;
};

static struct sheet sheet_of(const struct report *r, const struct figure_column *all, size_t n)
{
	struct sheet s = { .all = all };

	for (size_t i = 0; i < n; i++) {
		if (all[i].needs & ~known(r))
			continue;
		s.columns[s.n] = all[i].column;
		if (known(r) & NEED_PROCESSES)
			s.columns[s.n].from = all[i].from_many;
		s.shown[s.n++] = &all[i];
	}
	return s;
}

static void fill(const struct report *r, const struct sheet *sheet, const struct summed *s, struct table_row *row)
{
	for (size_t i = 0; i < sheet->n; i++)
		row->of[i] = sheet->shown[i]->of(r, s);
}

static struct table_row row_of(const struct report *r, const struct sheet *sheet, const struct summed *s)
{
	struct table_row row = { .name.code = s->code };

	row.name.line = s->loop ? s->loop->line : s->code->firstlineno;
	row.name.offset = s->loop ? s->loop->head : SAMPLE_NOWHERE;
	fill(r, sheet, s, &row);
	return row;
}

/* A sum of functions: what they call is not added up, since they call each other. */
struct fold {
	struct summed sum;
	size_t functions;
	char label[LABEL];
};

static void fold_add(struct fold *f, const struct summed *s)
{
	f->functions++;
	f->sum.n += s->n;
	f->sum.own_ns += s->own_ns;
	off_add(&f->sum.own_off, s->own_off);
	f->sum.waits_ns += s->waits_ns;
}

static double not_for_folds(const struct figure_column *c, const struct fold *f, double value)
{
	return c->of == total || c->of == processes || (c->of == number && !f->functions) ? NAN : value;
}

static struct table_row folded(const struct report *r, const struct sheet *sheet, struct fold *f)
{
	struct table_row row = { .name.text = f->label };

	fill(r, sheet, &f->sum, &row);
	for (size_t i = 0; i < sheet->n; i++)
		row.of[i] = not_for_folds(sheet->shown[i], f, row.of[i]);
	return row;
}

/* The row of all waiting: in no share, since shares are of what does not wait. */
static struct table_row waiting(const struct report *r, const struct sheet *sheet)
{
	struct waits all = profile_waits(r->p);
	uint64_t ns = profile_has_cpu(r->p) ? r->p->traced_off.waiting_ns : waits_ns(&all);
	struct table_row row = { .name.text = (char *)"waiting" };

	for (size_t i = 0; i < sheet->n; i++)
		row.of[i] = sheet->shown[i]->of == wall || sheet->shown[i]->of == wait ? (double)ns : NAN;
	return row;
}

struct folds {
	struct fold of[ORIGINS], c, collections, outside;
};

/* C functions that have a row by name. */
static size_t count_large(const struct report *r, const struct report_top *top)
{
	size_t n = 0;

	while (n < top->nc_functions && n < C_LARGE && report_share(r, &top->c_functions[n]) >= SHARE_C)
		n++;
	return n;
}

static void fold_collections(const struct profile *p, struct fold *f)
{
	struct collections_own own[GENERATIONS];

	profile_collections(p, own);
	f->functions = collections_all(&p->collections).n > 0;
	for (unsigned i = 0; i < GENERATIONS; i++) {
		f->sum.n += p->collections.of[i].n;
		f->sum.own_ns += own[i].ns;
		off_add(&f->sum.own_off, own[i].off);
	}
}

/* What is not among the rows. */
static struct folds fold_all(const struct report *r, const struct report_top *top, const struct summed *all, size_t n)
{
	struct folds f = { 0 };

	for (size_t i = count_large(r, top); i < top->nc_functions; i++)
		fold_add(&f.c, &top->c_functions[i]);
	for (size_t i = 0; i < n; i++)
		fold_add(&f.of[r->unfold ? ORIGIN_OWN : all[i].origin], &all[i]);
	fold_collections(r->p, &f.collections);
	f.outside.sum.own_ns = r->p->outside_ns;
	f.outside.sum.own_off = r->p->outside_off;
	f.outside.sum.waits_ns = waits_ns(&r->p->outside_waits);
	return f;
}

static void fold_label(const struct report *r, struct fold *f, enum origin origin)
{
	const char *more = origin == ORIGIN_OWN ? "more " : "";

	if (r->unfold)
		snprintf(f->label, LABEL, "%zu more", f->functions);
	else
		snprintf(f->label, LABEL, "%zu %sin %s", f->functions, more, origin_name(origin));
}

/* The rows below the functions, at most FOLDS. Returns how many. */
static size_t fold_rows(const struct report *r, const struct report_top *top, const struct sheet *sheet,
			struct folds *f, struct table_row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < count_large(r, top); i++)
		rows[n++] = row_of(r, sheet, &top->c_functions[i]);
	for (int i = 0; i < ORIGINS; i++) {
		struct fold *of = &f->of[i];

		if (!of->functions)
			continue;
		fold_label(r, of, (enum origin)i);
		rows[n++] = folded(r, sheet, of);
	}
	snprintf(f->c.label, LABEL, "%zu C functions", f->c.functions);
	if (f->c.functions)
		rows[n++] = folded(r, sheet, &f->c);
	snprintf(f->collections.label, LABEL, "garbage collections");
	if (f->collections.functions)
		rows[n++] = folded(r, sheet, &f->collections);
	snprintf(f->outside.label, LABEL, "outside of functions");
	if (report_share(r, &f->outside.sum) >= SHARE_OUTSIDE)
		rows[n++] = folded(r, sheet, &f->outside);
	if (known(r) & NEED_WAITS)
		rows[n++] = waiting(r, sheet);
	return n;
}

static const char *functions_head(const struct profile *p)
{
	return profile_has_cpu(p)     ? "function, by self CPU time"
	       : profile_has_waits(p) ? "function, by self time without waiting"
				      : "function, by self time";
}

static const char *loops_head(const struct profile *p)
{
	return profile_has_cpu(p) ? "loop, by CPU time" : "loop, by time";
}

/* How many come first and are worth a row: one at least, if there is any. */
static size_t count_worth(const struct summed *all, size_t n)
{
	size_t i = 0;

	while (i < n && (all[i].first || !i))
		i++;
	return i;
}

/* "4711", "4711/4712 worker-1", the name of a coroutine. */
static void group_label(const struct report *r, const struct group *g, char label[LABEL])
{
	const struct process *p = map_get(&r->p->codes->processes, (uint32_t)g->pid);
	const char *name = p ? process_thread_name(p, g->tid) : NULL;

	if (r->by == BY_PROCESS)
		snprintf(label, LABEL, "%" PRId32, g->pid);
	else if (r->by == BY_THREAD)
		snprintf(label, LABEL, "%" PRId32 " %s", g->tid, name ? name : "");
	else
		snprintf(label, LABEL, "%s", g->task ? g->task->qualname : "no task");
}

static const char *const by_names[] = { [BY_PROCESS] = "pid", [BY_THREAD] = "thread", [BY_TASK] = "task" };

/* The first n, each with its group. */
static int write_grouped(const struct report *r, const struct summed *all, size_t n)
{
	struct sheet sheet = sheet_of(r, function_columns, COUNT(function_columns));
	struct table t = { sheet.columns, sheet.n, functions_head(r->p), by_names[r->by] };
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	char(*labels)[LABEL] = calloc(n + 1, LABEL);
	int err = rows && labels ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		rows[i] = row_of(r, &sheet, &all[i]);
		group_label(r, all[i].group, labels[i]);
		rows[i].group = labels[i];
	}
	if (!err) {
		fputc('\n', r->f);
		err = table_write(r, &t, rows, n);
	}
	free(rows);
	free(labels);
	return err;
}

/* The first `own` of the n; of the others a row of each kind. */
static int write_functions(const struct report *r, const struct report_top *top, size_t own)
{
	const struct summed *all = top->functions;
	struct sheet sheet = sheet_of(r, function_columns, COUNT(function_columns));
	struct table t = { sheet.columns, sheet.n, functions_head(r->p), NULL };
	struct table_row *rows = calloc(own + FOLDS, sizeof(*rows));
	struct folds folds = fold_all(r, top, all + own, top->nfunctions - own);
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < own; i++)
		rows[i] = row_of(r, &sheet, &all[i]);
	fputc('\n', r->f);
	err = table_write(r, &t, rows, own + fold_rows(r, top, &sheet, &folds, rows + own));
	free(rows);
	return err;
}

static int write_loops(const struct report *r, const struct summed *all, size_t n)
{
	struct sheet sheet = sheet_of(r, loop_columns, COUNT(loop_columns));
	struct table t = { sheet.columns, sheet.n, loops_head(r->p), NULL };
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = row_of(r, &sheet, &all[i]);
	fputc('\n', r->f);
	err = table_write(r, &t, rows, n);
	free(rows);
	return err;
}

struct shown {
	size_t functions, loops;
};

static size_t between(size_t least, long n, size_t most)
{
	size_t at_least = n < (long)least ? least : (size_t)n;

	return at_least < most ? at_least : most;
}

/*
 * How many rows of each fit on the screen, below so many lines: LOOPS_SURE loops, then functions, then again loops;
 * and as many loops as were asked for.
 */
static struct shown divide(const struct report *r, const struct report_top *top, unsigned lines, unsigned wanted)
{
	struct sheet sheet = sheet_of(r, function_columns, COUNT(function_columns));
	struct folds folds = fold_all(r, top, top->functions, top->nfunctions);
	struct table_row unused[FOLDS];
	struct shown n = { count_worth(top->functions, top->nfunctions), count_worth(top->loops, top->nloops) };
	long rows = SCREEN - HEADS - (long)lines - (long)fold_rows(r, top, &sheet, &folds, unused);
	size_t loops = n.loops;

	if (r->unfold)
		return n;
	n.functions = between(FUNCTIONS_LEAST, rows - (long)between(0, LOOPS_SURE, loops), n.functions);
	n.loops = between(LOOPS_LEAST, rows - (long)n.functions, loops);
	if (wanted != LOOPS_AUTO && wanted > n.loops)
		n.loops = between(wanted, 0, loops);
	return n;
}

int report_first(const struct report *r, const struct report_top *top, unsigned lines, unsigned loops)
{
	struct shown n = divide(r, top, lines, loops);
	int err = r->by ? 0 : top->nfunctions ? write_functions(r, top, n.functions) : 0;

	if (err || (!loops && top->nloops))
		return err;
	if (!top->nloops)
		fputs("\nNo loops: no back-edge was seen (modes adaptive, precise and full record them).\n", r->f);
	else
		err = write_loops(r, top->loops, n.loops);
	if (top->nloops && !err)
		report_meaning(r);
	return err;
}

/* What groups have in all. */
static size_t sum_groups(const struct summed *all, size_t n, struct fold *groups)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (at < found && groups[at].sum.group != all[i].group)
			at++;
		found += at == found;
		groups[at].sum.group = all[i].group;
		fold_add(&groups[at], &all[i]);
	}
	return found;
}

static int by_own_busy(const void *left, const void *right, void *profile)
{
	const struct fold *a = left, *b = right;
	uint64_t x = summed_own_busy(profile, &a->sum), y = summed_own_busy(profile, &b->sum);

	return x == y  ? (a->sum.group->number > b->sum.group->number) - (a->sum.group->number < b->sum.group->number)
	       : x < y ? 1
		       : -1;
}

static int write_groups(const struct report *r, struct fold *groups, size_t n)
{
	struct sheet sheet = sheet_of(r, function_columns, COUNT(function_columns));
	struct table t = { sheet.columns, sheet.n, by_names[r->by], NULL };
	size_t shown = n < PARTS || r->unfold ? n : PARTS;
	struct table_row *rows = calloc(shown + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	qsort_r(groups, n, sizeof(*groups), by_own_busy, (void *)r->p);
	for (size_t i = 0; i < shown && !err; i++) {
		group_label(r, groups[i].sum.group, groups[i].label);
		rows[i] = folded(r, &sheet, &groups[i]);
	}
	if (!err) {
		fputc('\n', r->f);
		err = table_write(r, &t, rows, shown);
	}
	if (!err && shown < n)
		fprintf(r->f, "and %zu more: --all shows them\n", n - shown);
	free(rows);
	return err;
}

int report_parts(const struct report *r, const struct parts *parts)
{
	size_t n = 0, worth;
	struct summed *all = summed_parts(r->p, parts, &n, !r->unfold);
	struct fold *groups = calloc(parts->groups.used + 1, sizeof(*groups));
	int err = all && groups ? 0 : -ENOMEM;

	if (!err && n) {
		worth = count_worth(all, n);
		err = write_groups(r, groups, sum_groups(all, n, groups));
		err = err ?: write_grouped(r, all, r->unfold ? worth : between(0, PARTS, worth));
	}
	summed_free(all, n);
	free(groups);
	return err;
}

int report_c_functions(const struct report *r, const struct report_top *top)
{
	struct sheet sheet = sheet_of(r, function_columns, COUNT(function_columns));
	struct table t = { sheet.columns, sheet.n,
			   profile_has_cpu(r->p) ? "C function, by self CPU time" : "C function, by self time", NULL };
	size_t n = r->unfold ? top->nc_functions
			     : between(0, C_FUNCTIONS, count_worth(top->c_functions, top->nc_functions));
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && rows; i++)
		rows[i] = row_of(r, &sheet, &top->c_functions[i]);
	if (n && !err) {
		fputc('\n', r->f);
		err = table_write(r, &t, rows, n);
	}
	free(rows);
	return err;
}
