// SPDX-License-Identifier: MIT
/* Which exceptions were raised where, how far they went, and where that ended. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"
#include "summed_rows.h"
#include "table.h"

#define COLUMNS 4
#define LABEL	22 /* columns of a type's name */

void report_exceptions(FILE *f, const struct profile *p)
{
	uint64_t n = exceptions_count(&p->exceptions), handled = 0, dropped = 0, left = 0;

	for (size_t i = 0; i < p->exceptions.n; i++) {
		handled += p->exceptions.in_order[i]->handled;
		dropped += p->exceptions.in_order[i]->dropped;
		left += p->exceptions.in_order[i]->left;
	}
	fprintf(f, "%" PRIu64 " exception%s: %" PRIu64 " handled, %" PRIu64 " dropped in C, %" PRIu64 " by nobody", n,
		n == 1 ? "" : "s", handled, dropped, left);
}

static struct table_row row_of(const struct raised *r)
{
	uint64_t ended = r->handled + r->dropped + r->left;
	struct table_row row = { .group = r->type ? r->type->qualname : "?",
				 .of = { r->n, r->handled, ended ? (double)r->frames / ended : NAN, r->frames_most },
				 .name = { .code = r->code, .line = r->line ? r->line : r->code->firstlineno } };

	row.name.offset = SAMPLE_NOWHERE;
	return row;
}

/* The program's own; unfolded, all: of n rows, with what they hold, how many are left. */
static size_t choose(const struct report *r, struct raised_row *rows, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (!r->unfold && origin_of(r->p->codes, rows[i].at.code) != ORIGIN_OWN)
			continue;
		struct raised_row chosen = rows[i];

		rows[i] = rows[used];
		rows[used++] = chosen;
	}
	return used;
}

static int write_rows(const struct report *r, const struct raised_row *chosen, size_t n)
{
	static const struct table_column columns[COLUMNS] = { { "raised", COLUMN_COUNT, 0 },
							      { "caught", COLUMN_COUNT, 0 },
							      { "frames", COLUMN_COUNT, 0 },
							      { "most", COLUMN_COUNT, 0 } };
	const struct table t = { columns, COLUMNS, "raised in", "exception", LABEL };
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	int err;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = row_of(&chosen[i].of);
	fputc('\n', r->f);
	err = table_write(r, &t, rows, n);
	free(rows);
	return err;
}

int report_raised(const struct report *r, size_t most)
{
	size_t all, n;
	struct raised_row *rows = summed_raised(r->p, &all);
	int err = 0;

	if (!rows)
		return -ENOMEM;
	n = choose(r, rows, all);
	n = n < most ? n : most;
	if (n)
		err = write_rows(r, rows, n);
	if (!err && n && n < all)
		fprintf(r->f, "and %zu more places: --all shows them\n", all - n);
	summed_raised_free(rows, all);
	return err;
}
