// SPDX-License-Identifier: MIT
/* The program's own spans. */
#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "table.h"

#define COLUMNS 4

static struct table_row row_of(const struct span_total *t)
{
	struct table_row row = { .of = { t->ns, t->n, t->n ? (double)t->ns / t->n : NAN, t->longest_ns } };

	row.name.text = t->name->qualname;
	return row;
}

int report_spans(const struct report *r, size_t most)
{
	static const struct table_column columns[COLUMNS] = { { "wall", COLUMN_SPAN, 0 },
							      { "times", COLUMN_COUNT, 0 },
							      { "mean", COLUMN_SPAN, 0 },
							      { "longest", COLUMN_SPAN, 0 } };
	const struct table t = { columns, COLUMNS, "span, by wall time", NULL, 0 };
	size_t all, n;
	const struct span_total **spans = spans_ranked(&r->p->spans, &all);
	struct table_row *rows = spans ? calloc(all + 1, sizeof(*rows)) : NULL;
	int err = rows ? 0 : -ENOMEM;

	n = err || all < most ? all : most;
	for (size_t i = 0; i < n && rows; i++)
		rows[i] = row_of(spans[i]);
	if (n && !err) {
		fputc('\n', r->f);
		err = table_write(r, &t, rows, n);
	}
	if (!err && n < all)
		fprintf(r->f, "and %zu more: --all shows them\n", all - n);
	free(spans);
	free(rows);
	return err;
}
