// SPDX-License-Identifier: MIT
/* sheet.c - see sheet.h. */
#include "sheet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/sink.h"
#include "model/stat.h"
#include "report.h"

/* What must be known, or else a column is left out. */
enum need {
	ALWAYS = 0,
	NEED_CPU = 1,
	NEED_NO_CPU = 2,
	NEED_WAITS = 4,
	NEED_PROCESSES = 8,
	NEED_WHOLE = 16,
	NEED_PARTS = 32,   /* it is taken apart: less room for names */
	NEED_TIME = 64,	   /* cycles are time */
	NEED_CYCLES = 128, /* they are not */
};

#define SHARE "" /* its head says of what: share_head() */

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

/* 0: cycles of the core say nothing of time. */
static double cycle_ns(const struct profile *p)
{
	return p->clock_hz ? 1e9 / p->clock_hz : strcmp(p->clock, "ns") ? 0 : 1;
}

/* Trips of recursive activations are in no sum of times. */
double report_trip_ns(const struct report *r, const struct summed *s)
{
	double ns = cycle_ns(r->p);

	return timed(s, ns > 0 ? stat_mean(&s->cycles) * ns : (double)s->ns / s->cycles.n);
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

static double trip_median_ns(const struct report *r, const struct summed *s)
{
	return trip_median(r, s) * cycle_ns(r->p);
}

static double trip_p99_ns(const struct report *r, const struct summed *s)
{
	return trip_p99(r, s) * cycle_ns(r->p);
}

static double trip_most_ns(const struct report *r, const struct summed *s)
{
	return trip_most(r, s) * cycle_ns(r->p);
}

/* clang-format off */
static const struct figure_column function_columns[] = {
	{ { SHARE, COLUMN_SHARE, 0 }, 0, ALWAYS, report_share },
	{ { "wall", COLUMN_SPAN, 0 }, 0, ALWAYS, wall },
	{ { "cpu", COLUMN_SPAN, 0 }, 0, NEED_CPU, cpu },
	{ { "wait", COLUMN_SPAN, 0 }, 0, NEED_WAITS, wait },
	{ { "total", COLUMN_SPAN, 0 }, 90, NEED_WHOLE, total },
	{ { "calls", COLUMN_COUNT, 0 }, 0, ALWAYS, number },
	{ { "procs", COLUMN_COUNT, 0 }, 0, NEED_PROCESSES, processes },
};

static const struct figure_column loop_columns[] = {
	{ { SHARE, COLUMN_SHARE, 0 }, 0, ALWAYS, report_share },
	{ { "total%", COLUMN_SHARE, 110 }, 110, NEED_WHOLE, report_total_share },
	{ { "own wall", COLUMN_SPAN, 110 }, 120, NEED_CPU, wall },
	{ { "own wall", COLUMN_SPAN, 0 }, 0, NEED_NO_CPU, wall },
	{ { "own cpu", COLUMN_SPAN, 0 }, 0, NEED_CPU, cpu },
	{ { "own wait", COLUMN_SPAN, 90 }, 100, NEED_CPU, wait },
	{ { "trips", COLUMN_COUNT, 0 }, 0, ALWAYS, number },
	{ { "mean", COLUMN_SPAN, 0 }, 0, ALWAYS, report_trip_ns },
	{ { "median", COLUMN_SPAN, 0 }, 0, NEED_TIME, trip_median_ns },
	{ { "p99", COLUMN_SPAN, 0 }, 0, NEED_TIME | NEED_WHOLE, trip_p99_ns },
	{ { "p99", COLUMN_SPAN, 90 }, 90, NEED_TIME | NEED_PARTS, trip_p99_ns },
	{ { "max", COLUMN_SPAN, 110 }, 110, NEED_TIME, trip_most_ns },
	{ { "mean cycles", COLUMN_COUNT, 130 }, 140, NEED_TIME, trip_cycles },
	{ { "mean cycles", COLUMN_COUNT, 110 }, 110, NEED_CYCLES, trip_cycles },
	{ { "median cycles", COLUMN_COUNT, 0 }, 0, NEED_CYCLES, trip_median },
	{ { "p99 cycles", COLUMN_COUNT, 0 }, 110, NEED_CYCLES, trip_p99 },
	{ { "max cycles", COLUMN_COUNT, 130 }, 130, NEED_CYCLES, trip_most },
	{ { "procs", COLUMN_COUNT, 0 }, 0, NEED_PROCESSES, processes },
};
/* clang-format on */

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

_Static_assert(COUNT(loop_columns) <= TABLE_COLUMNS, "a table's row has room for that many");

/* What is taken apart has neither total times nor the waits that the program tells of. */
static unsigned known(const struct report *r)
{
	const struct profile *p = r->p;
	unsigned sure = (profile_has_cpu(p) ? NEED_CPU | NEED_WAITS : NEED_NO_CPU) |
			(cycle_ns(p) > 0 ? NEED_TIME : NEED_CYCLES);

	if (r->by)
		return sure | NEED_PARTS;
	return sure | NEED_WHOLE | (profile_has_waits(p) ? NEED_WAITS : 0) | (p->processes > 1 ? NEED_PROCESSES : 0);
}

static const char *share_head(const struct report *r)
{
	return profile_has_cpu(r->p) ? "cpu%" : profile_has_waits(r->p) ? "busy%" : "time%";
}

/* Where the time was not read for each marker, what is of a single trip is not sure. */
static const char *unsure_head(double (*of)(const struct report *, const struct summed *), const char *head)
{
	return of == trip_median_ns ? "~median" : of == trip_p99_ns ? "~p99" : of == trip_most_ns ? "~max" : head;
}

static struct sheet sheet_of(const struct report *r, const char *head, const struct figure_column *all, size_t n)
{
	static const char *const by[] = { [BY_PROCESS] = "pid", [BY_THREAD] = "thread", [BY_TASK] = "task" };
	struct sheet s = { .head = head, .by = by[r->by] };

	for (size_t i = 0; i < n; i++) {
		if (all[i].needs & ~known(r))
			continue;
		s.columns[s.n] = all[i].column;
		if (!*s.columns[s.n].head)
			s.columns[s.n].head = share_head(r);
		if (r->p->coarse)
			s.columns[s.n].head = unsure_head(all[i].of, s.columns[s.n].head);
		if (known(r) & NEED_PROCESSES)
			s.columns[s.n].from = all[i].from_many;
		s.shown[s.n++] = &all[i];
	}
	return s;
}

struct sheet sheet_functions(const struct report *r)
{
	const char *head = profile_has_cpu(r->p)     ? "function, by self CPU time"
			   : profile_has_waits(r->p) ? "function, by self time without waiting"
						     : "function, by self time";

	return sheet_of(r, head, function_columns, COUNT(function_columns));
}

struct sheet sheet_c_functions(const struct report *r)
{
	const char *head = profile_has_cpu(r->p) ? "C function, by self CPU time" : "C function, by self time";

	return sheet_of(r, head, function_columns, COUNT(function_columns));
}

struct sheet sheet_loops(const struct report *r)
{
	const char *head = profile_has_cpu(r->p) ? "loop, by own CPU time" : "loop, by own time";

	return sheet_of(r, head, loop_columns, COUNT(loop_columns));
}

static void fill(const struct report *r, const struct sheet *sheet, const struct summed *s, struct table_row *row)
{
	for (size_t i = 0; i < sheet->n; i++)
		row->of[i] = sheet->shown[i]->of(r, s);
}

struct table_row sheet_row(const struct report *r, const struct sheet *sheet, const struct summed *s)
{
	struct table_row row = { .name.code = s->code };

	row.name.line = s->loop ? s->loop->line : s->code->firstlineno;
	row.name.offset = s->loop ? s->loop->head : SAMPLE_NOWHERE;
	fill(r, sheet, s, &row);
	return row;
}

void fold_add(struct fold *f, const struct summed *s)
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

struct table_row sheet_fold(const struct report *r, const struct sheet *sheet, struct fold *f)
{
	struct table_row row = { .name.text = f->label };

	fill(r, sheet, &f->sum, &row);
	for (size_t i = 0; i < sheet->n; i++)
		row.of[i] = not_for_folds(sheet->shown[i], f, row.of[i]);
	return row;
}

bool sheet_waiting(const struct report *r, const struct sheet *sheet, struct table_row *row)
{
	uint64_t ns = profile_has_cpu(r->p) ? r->p->traced_off.waiting_ns : waits_ns(&r->p->all_waits);

	*row = (struct table_row){ .name.text = (char *)"of these, waiting" };
	for (size_t i = 0; i < sheet->n; i++)
		row->of[i] = sheet->shown[i]->of == wall || sheet->shown[i]->of == wait ? (double)ns : NAN;
	return known(r) & NEED_WAITS;
}

size_t sheet_worth(const struct summed *all, size_t n)
{
	size_t i = 0;

	while (i < n && (all[i].first || !i))
		i++;
	return i;
}

void sheet_group(const struct report *r, const struct group *g, char label[SHEET_LABEL])
{
	const struct process *p = map_get(&r->p->codes->processes, (uint32_t)g->pid);
	const char *name = p ? process_thread_name(p, g->tid) : NULL;

	if (r->by == BY_PROCESS)
		snprintf(label, SHEET_LABEL, "%" PRId32, g->pid);
	else if (r->by == BY_THREAD)
		snprintf(label, SHEET_LABEL, "%" PRId32 " %s", g->tid, name ? name : "");
	else
		snprintf(label, SHEET_LABEL, "%s", g->task ? g->task->qualname : "no task");
}

int sheet_write_rows(const struct report *r, const struct sheet *sheet, struct table_row *rows, size_t n)
{
	struct table t = { sheet->columns, sheet->n, sheet->head, n && rows->group ? sheet->by : NULL, 0 };

	fputc('\n', r->f);
	return table_write(r, &t, rows, n);
}

int sheet_write(const struct report *r, const struct sheet *sheet, const struct summed *all, size_t n)
{
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	char(*labels)[SHEET_LABEL] = calloc(n + 1, SHEET_LABEL);
	int err = rows && labels ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		rows[i] = sheet_row(r, sheet, &all[i]);
		if (!all[i].group)
			continue;
		sheet_group(r, all[i].group, labels[i]);
		rows[i].group = labels[i];
	}
	err = err ?: sheet_write_rows(r, sheet, rows, n);
	free(rows);
	free(labels);
	return err;
}
