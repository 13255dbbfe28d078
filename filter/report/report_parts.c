// SPDX-License-Identifier: MIT
/* Processes, threads or tasks, and the functions and loops of each. */
#include "report.h"

#include <errno.h>
#include <stdlib.h>

#include "sheet.h"

#define ROWS 10 /* of each table, unless it is unfolded */

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
	struct sheet sheet = sheet_functions(r);
	size_t shown = n < ROWS || r->unfold ? n : ROWS;
	struct table_row *rows = calloc(shown + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	sheet.head = sheet.by;
	qsort_r(groups, n, sizeof(*groups), by_own_busy, (void *)r->p);
	for (size_t i = 0; i < shown && !err; i++) {
		sheet_group(r, groups[i].sum.group, groups[i].label);
		rows[i] = sheet_fold(r, &sheet, &groups[i]);
	}
	err = err ?: sheet_write_rows(r, &sheet, rows, shown);
	if (!err && shown < n)
		fprintf(r->f, "and %zu more: --all shows them\n", n - shown);
	free(rows);
	return err;
}

static size_t shown_of(const struct report *r, const struct summed *all, size_t n)
{
	size_t worth = sheet_worth(all, n);

	return r->unfold || worth < ROWS ? worth : ROWS;
}

static int write_functions(const struct report *r, const struct parts *parts)
{
	struct sheet sheet = sheet_functions(r);
	size_t n = 0;
	struct summed *all = summed_parts(r->p, parts, false, &n, !r->unfold);
	struct fold *groups = calloc(parts->groups.used + 1, sizeof(*groups));
	int err = all && groups ? 0 : -ENOMEM;

	if (!err && n)
		err = write_groups(r, groups, sum_groups(all, n, groups))
			      ?: sheet_write(r, &sheet, all, shown_of(r, all, n));
	summed_free(all, n);
	free(groups);
	return err;
}

static int write_loops(const struct report *r, const struct parts *parts)
{
	struct sheet sheet = sheet_loops(r);
	size_t n = 0;
	struct summed *all = summed_parts(r->p, parts, true, &n, !r->unfold);
	int err = !all ? -ENOMEM : n ? sheet_write(r, &sheet, all, shown_of(r, all, n)) : 0;

	summed_free(all, n);
	return err;
}

int report_parts(const struct report *r, const struct parts *parts, bool loops)
{
	return write_functions(r, parts) ?: loops ? write_loops(r, parts) : 0;
}
