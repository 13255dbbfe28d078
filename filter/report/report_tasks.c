// SPDX-License-Identifier: MIT
/* Tasks by their coroutines; requests, and of one of them where its time went. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "base/text.h"
#include "report.h"
#include "table.h"

#define TASK_COLUMNS	5
#define REQUEST_COLUMNS 5
#define WHERE		18  /* columns of what they wait in */
#define LONGEST		100 /* columns of a line that has the longest task, too: shorter ones need them for names */
#define PIECES		8   /* rows of a path, unless it is asked for */
#define SHARE_PIECE	.01 /* of its time; shorter ones are told together */
#define PIECE		33  /* columns before what it was */

static const char *most_waited(const struct waited *w)
{
	const struct wait_place *most = waited_most(w);

	return !most->ns ? "-" : most->where ? most->where->qualname : "others";
}

static struct table_row row_of_task(const struct task_total *t)
{
	uint64_t waited = t->wall_ns - t->running_ns - t->ready_ns;
	struct table_row row = { .group = most_waited(&t->waits),
				 .of = { t->running_ns, t->ready_ns, waited, t->longest_ns, t->n } };

	row.name.code = t->coroutine;
	row.name.line = t->coroutine ? t->coroutine->firstlineno : 0;
	row.name.offset = SAMPLE_NOWHERE;
	if (!t->coroutine)
		row.name.text = (char *)"(not begun)";
	return row;
}

/* Rows of a table with a line for those that are left out. 0 or -ENOMEM. */
static int write_table(const struct report *r, const struct table *t, struct table_row *rows, size_t n, size_t most)
{
	int err;

	if (!n)
		return 0;
	fputc('\n', r->f);
	err = table_write(r, t, rows, n < most ? n : most);
	if (!err && n > most)
		fprintf(r->f, "and %zu more: --all shows them\n", n - most);
	return err;
}

int report_tasks(const struct report *r, size_t most)
{
	static const struct table_column columns[TASK_COLUMNS] = { { "running", COLUMN_SPAN, 0 },
								   { "ready", COLUMN_SPAN, 0 },
								   { "waiting", COLUMN_SPAN, 0 },
								   { "longest", COLUMN_SPAN, LONGEST },
								   { "tasks", COLUMN_COUNT, 0 } };
	const struct table t = { columns, TASK_COLUMNS, "tasks, by coroutine", "mostly in", WHERE };
	size_t n;
	const struct task_total **all = async_tasks_ranked(&r->p->tasks, &n);
	struct table_row *rows = all ? calloc(n + 1, sizeof(*rows)) : NULL;
	int err = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && rows; i++)
		rows[i] = row_of_task(all[i]);
	err = err ?: write_table(r, &t, rows, n, most);
	if (n && !err)
		fputs(r->width < LONGEST
			      ? "Times are sums over tasks, which waited mostly in what is named.\n"
			      : "Times are sums over tasks, which waited mostly in what is named; longest: one\n"
				"task, from its start to its end.\n",
		      r->f);
	free(all);
	free(rows);
	return err;
}

/* 0 or -ENOMEM. */
static int fill_request(struct table_row *row, const struct request_total *t)
{
	char text[CALLED_TEXT];

	*row = (struct table_row){ .group = most_waited(&t->waits),
				   .of = { t->ns, t->by_kind[CRITICAL_RUNNING],
					   t->by_kind[CRITICAL_AWAITING] + t->by_kind[CRITICAL_BLOCKED], t->longest_ns,
					   t->n } };
	row->name.text = strdup(called_text(&t->called, text));
	return row->name.text ? 0 : -ENOMEM;
}

static int write_requests(const struct report *r, size_t most)
{
	static const struct table_column columns[REQUEST_COLUMNS] = { { "wall", COLUMN_SPAN, 0 },
								      { "running", COLUMN_SPAN, 0 },
								      { "waiting", COLUMN_SPAN, 0 },
								      { "longest", COLUMN_SPAN, 0 },
								      { "times", COLUMN_COUNT, 0 } };
	const struct table t = { columns, REQUEST_COLUMNS, "request, by wall time", "mostly in", WHERE };
	size_t n;
	const struct request_total **all = requests_ranked(&r->p->requests, &n);
	struct table_row *rows = all ? calloc(n + 1, sizeof(*rows)) : NULL;
	char **texts = rows ? calloc(n + 1, sizeof(*texts)) : NULL;
	int err = texts ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++) {
		err = fill_request(&rows[i], all[i]);
		texts[i] = (char *)rows[i].name.text;
	}
	err = err ?: write_table(r, &t, rows, n, most);
	for (size_t i = 0; i < n && texts; i++)
		free(texts[i]);
	free(all);
	free(rows);
	free(texts);
	return err;
}

/* Pieces of a path that are alike. */
struct alike {
	struct critical_piece piece; /* the first of them; its ns are those of all */
	uint64_t n;
	bool one; /* all of one task or thread */
};

static bool is_of_one(const struct critical_piece *a, const struct critical_piece *b)
{
	return a->tid == b->tid && a->called.name == b->called.name && a->called.number == b->called.number;
}

static void add_alike(struct alike *all, size_t *n, const struct critical_piece *c)
{
	size_t i = 0;

	while (i < *n && (all[i].piece.kind != c->kind || all[i].piece.what != c->what || all[i].piece.by != c->by ||
			  all[i].piece.wait != c->wait))
		i++;
	if (i == *n) {
		all[(*n)++] = (struct alike){ *c, 1, true };
		return;
	}
	all[i].piece.ns += c->ns;
	all[i].n++;
	all[i].one &= is_of_one(&all[i].piece, c);
}

static int by_time(const void *left, const void *right)
{
	const struct alike *a = left, *b = right;

	return (a->piece.ns < b->piece.ns) - (a->piece.ns > b->piece.ns);
}

/* Whose it was: a task's, or else a thread's. */
static void write_whose(FILE *f, const struct critical_piece *c)
{
	char text[CALLED_TEXT];

	if (c->called.name || c->called.number)
		fprintf(f, " in %s", called_text(&c->called, text));
	else if (c->kind != CRITICAL_UNKNOWN)
		fprintf(f, " in thread %d", c->tid);
}

/* In a line of the report's width. */
static int write_piece(const struct report *r, const struct alike *a, uint64_t all_ns)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return -ENOMEM;
	if (a->piece.by)
		fprintf(f, "%s: ", a->piece.by->qualname);
	fputs(a->piece.what ? a->piece.what->qualname : "-", f);
	if (a->piece.wait)
		fprintf(f, " (%s)", wait_name(a->piece.wait));
	if (a->one)
		write_whose(f, &a->piece);
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	write_share(r, a->piece.ns, all_ns);
	write_span(r, a->piece.ns);
	write_number(r, a->n);
	fprintf(r->f, "  %-8s  ", critical_kind_name(a->piece.kind));
	text_elided(r->f, text, r->width - PIECE);
	fputc('\n', r->f);
	free(text);
	return 0;
}

static void write_rest(const struct report *r, const struct alike *rest, size_t n, const struct request *q)
{
	uint64_t ns = 0, pieces = 0;

	for (size_t i = 0; i < n; i++) {
		ns += rest[i].piece.ns;
		pieces += rest[i].n;
	}
	write_share(r, ns, q->ended_ns - q->begun_ns);
	write_span(r, ns);
	write_number(r, pieces);
	fputs("  others\n", r->f);
}

/* What took longest; or, if it is asked for, all pieces in the order of time. */
static int write_path(const struct report *r, const struct request *q, bool whole)
{
	uint64_t all_ns = q->ended_ns - q->begun_ns;
	struct alike *all = calloc(q->path.n + 1, sizeof(*all));
	size_t n = 0, i;
	int err = all ? 0 : -ENOMEM;

	for (i = 0; i < q->path.n && all; i++)
		if (whole)
			all[n++] = (struct alike){ q->path.pieces[i], 1, true };
		else
			add_alike(all, &n, &q->path.pieces[i]);
	if (!whole && all)
		qsort(all, n, sizeof(*all), by_time);
	for (i = 0; i < n && !err && (whole || (i < PIECES && all[i].piece.ns >= SHARE_PIECE * all_ns)); i++)
		err = write_piece(r, &all[i], all_ns);
	if (!err && i < n)
		write_rest(r, &all[i], n - i, q);
	free(all);
	return err;
}

static int write_request(const struct report *r, const struct request *q, bool whole)
{
	char text[CALLED_TEXT], ns[FIGURE], trace[TRACED_TEXT];
	const char *id = traced_trace_id(&q->traced, trace);
	int n;

	write_title(r, whole ? "Where the time of a request went, in order"
			     : "Where the time of the slowest request went");
	n = fprintf(r->f, "%s, request %" PRIu64 ": ", figure_span(ns, q->ended_ns - q->begun_ns), q->number);
	text_elided(r->f, called_text(&q->called, text), r->width - n);
	if (id)
		fprintf(r->f, "\ntrace id %s", id);
	fputs("\n share    time  times  how       what\n", r->f);
	return write_path(r, q, whole);
}

int report_requests(const struct report *r, const char *wanted, size_t most)
{
	const struct requests *all = &r->p->requests;
	bool slowest = !wanted || !strcmp(wanted, "slowest");
	const struct request *q = !slowest ? all->found : all->n ? all->slowest[0] : NULL;
	int err = write_requests(r, most);

	if (!err && q)
		err = write_request(r, q, wanted);
	if (!err && !q && wanted)
		fprintf(r->f, "\nNo request %s has ended, of %" PRIu64 " that began.\n", wanted, all->begun);
	return err;
}
