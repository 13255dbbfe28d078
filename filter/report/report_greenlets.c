// SPDX-License-Identifier: MIT
/* Greenlets, those of one function together. */
#include <errno.h>
#include <stdlib.h>

#include "report.h"
#include "table.h"

#define COLUMNS 3

static struct table_row row_of(const struct greenlet_total *t)
{
	struct table_row row = { .of = { t->running_ns, t->count, t->switches } };

	row.name.code = t->function;
	row.name.line = t->function ? t->function->firstlineno : 0;
	row.name.offset = SAMPLE_NOWHERE;
	if (!t->function)
		row.name.text = (char *)(t->number ? "(not known)" : "(others)");
	return row;
}

int report_greenlets(const struct report *r, size_t most)
{
	static const struct table_column columns[COLUMNS] = { { "running", COLUMN_SPAN, 0 },
							      { "number", COLUMN_COUNT, 0 },
							      { "times", COLUMN_COUNT, 0 } };
	const struct table t = { columns, COLUMNS, "greenlets, by what they run", NULL, 0 };
	size_t all = 0, n;
	struct greenlet_total *totals = greenlets_by_function(&r->p->greenlets, &all);
	struct table_row *rows = totals ? calloc(all + 1, sizeof(*rows)) : NULL;
	int err = rows ? 0 : -ENOMEM;

	n = all < most ? all : most;
	for (size_t i = 0; i < n && rows; i++)
		rows[i] = row_of(&totals[i]);
	if (n && !err) {
		fputc('\n', r->f);
		err = table_write(r, &t, rows, n);
	}
	if (!err && n < all)
		fprintf(r->f, "and %zu more: --all shows them\n", all - n);
	free(totals);
	free(rows);
	return err;
}
