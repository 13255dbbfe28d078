// SPDX-License-Identifier: MIT
/*
 * The first screen: the program's own functions and loops, and one row for all the rest of a kind.
 */
#include "report.h"

#include <errno.h>
#include <stdlib.h>

#include "sheet.h"

#define SCREEN		24 /* lines */
#define HEADS		4  /* of these: heads of the tables, and empty lines before them */
#define FUNCTIONS_LEAST 3  /* of the program's own, whatever else there is to tell */
#define LOOPS_SURE	3
#define LOOPS_LEAST	1
#define C_LARGE		3			/* C functions that are shown by name, because they have SHARE_C */
#define FOLDS		(ORIGINS + 4 + C_LARGE) /* rows of what is not own */
#define C_FUNCTIONS	20			/* rows of these, below the screen */

/* What takes less of the time than this is left out. */
#define SHARE_OUTSIDE 0.01
#define SHARE_C	      0.1

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

/* named: some of the program's own functions have rows. */
static void fold_label(const struct report *r, struct fold *f, enum origin origin, bool named)
{
	const char *option = origin == ORIGIN_IMPORTS ? "--imports" : "--all";

	if (r->unfold)
		snprintf(f->label, SHEET_LABEL, "%zu more", f->functions);
	else if (origin == ORIGIN_OWN && named)
		snprintf(f->label, SHEET_LABEL, "%zu more of the program (%s)", f->functions, option);
	else
		snprintf(f->label, SHEET_LABEL, "%s (%s)", origin_name(origin), option);
}

/* The rows below the functions, at most FOLDS. Returns how many. */
static size_t fold_rows(const struct report *r, const struct report_top *top, const struct sheet *sheet,
			struct folds *f, struct table_row *rows)
{
	size_t n = 0;

	for (size_t i = 0; i < count_large(r, top); i++)
		rows[n++] = sheet_row(r, sheet, &top->c_functions[i]);
	for (int i = 0; i < ORIGINS; i++) {
		struct fold *of = &f->of[i];

		if (!of->functions)
			continue;
		fold_label(r, of, (enum origin)i, top->functions->origin == ORIGIN_OWN);
		rows[n++] = sheet_fold(r, sheet, of);
	}
	snprintf(f->c.label, SHEET_LABEL, "%zu C functions", f->c.functions);
	if (f->c.functions)
		rows[n++] = sheet_fold(r, sheet, &f->c);
	snprintf(f->collections.label, SHEET_LABEL, "garbage collections");
	if (f->collections.functions)
		rows[n++] = sheet_fold(r, sheet, &f->collections);
	snprintf(f->outside.label, SHEET_LABEL, "outside of functions");
	if (report_share(r, &f->outside.sum) >= SHARE_OUTSIDE)
		rows[n++] = sheet_fold(r, sheet, &f->outside);
	return n + sheet_waiting(r, sheet, &rows[n]);
}

/* The first `own` of the n; of the others a row of each kind. */
static int write_functions(const struct report *r, const struct report_top *top, size_t own)
{
	const struct summed *all = top->functions;
	struct sheet sheet = sheet_functions(r);
	struct table_row *rows = calloc(own + FOLDS, sizeof(*rows));
	struct folds folds = fold_all(r, top, all + own, top->nfunctions - own);
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < own; i++)
		rows[i] = sheet_row(r, &sheet, &all[i]);
	err = sheet_write_rows(r, &sheet, rows, own + fold_rows(r, top, &sheet, &folds, rows + own));
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
	struct sheet sheet = sheet_functions(r);
	struct folds folds = fold_all(r, top, top->functions, top->nfunctions);
	struct table_row unused[FOLDS];
	struct shown n = { sheet_worth(top->functions, top->nfunctions), sheet_worth(top->loops, top->nloops) };
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

/* Is there a row of many functions, below the first `own`? */
static bool is_folded(const struct report *r, const struct report_top *top, size_t own)
{
	return !r->by && !r->unfold && own < top->nfunctions;
}

static int write_loops(const struct report *r, const struct report_top *top, size_t n)
{
	struct sheet sheet = sheet_loops(r);
	int err = !r->by && top->nloops ? sheet_write(r, &sheet, top->loops, n) : 0;

	if (!top->nloops)
		fputs("\nNo loops: no back-edge was seen (modes adaptive, precise and full record them).\n", r->f);
	else if (!err)
		report_meaning(r, top->loops, r->by ? 0 : n);
	return err;
}

int report_first(const struct report *r, const struct report_top *top, unsigned lines, unsigned loops)
{
	struct shown n = divide(r, top, lines, loops);
	int err = !r->by && top->nfunctions ? write_functions(r, top, n.functions) : 0;

	if (!err && (loops || !top->nloops))
		err = write_loops(r, top, n.loops);
	report_interpolated(r);
	if (!err && is_folded(r, top, n.functions))
		fputs("A row with (--all) is many functions; --all shows each with 0.1% or more.\n", r->f);
	return err;
}

int report_c_functions(const struct report *r, const struct report_top *top)
{
	struct sheet sheet = sheet_c_functions(r);
	size_t worth = sheet_worth(top->c_functions, top->nc_functions);
	size_t n = r->unfold ? top->nc_functions : between(0, C_FUNCTIONS, worth);

	return n ? sheet_write(r, &sheet, top->c_functions, n) : 0;
}
