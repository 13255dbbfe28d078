// SPDX-License-Identifier: MIT
/* Which exceptions were raised where, how far they went, and where that ended. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"
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

/* The program's own; unfolded, all. Returns how many. */
static size_t choose(const struct report *r, const struct raised **chosen)
{
	const struct exceptions *all = &r->p->exceptions;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (r->unfold || origin_of(r->p->codes, all->in_order[i]->code) == ORIGIN_OWN)
			chosen[n++] = all->in_order[i];
	return n;
}

static int write_rows(const struct report *r, const struct raised *const *chosen, size_t n)
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
		rows[i] = row_of(chosen[i]);
	fputc('\n', r->f);
	err = table_write(r, &t, rows, n);
	free(rows);
	return err;
}

int report_raised(const struct report *r, size_t most)
{
	size_t all = r->p->exceptions.n, n;
	const struct raised **chosen = calloc(all + 1, sizeof(*chosen));
	int err = chosen ? 0 : -ENOMEM;

	n = err ? 0 : choose(r, chosen);
	n = n < most ? n : most;
	if (n)
		err = write_rows(r, chosen, n);
	if (!err && n && n < all)
		fprintf(r->f, "and %zu more places: --all shows them\n", all - n);
	free(chosen);
	return err;
}
