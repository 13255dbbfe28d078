// SPDX-License-Identifier: MIT
/* The tree of imports, with the columns of CPython's -X importtime; parents first. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/figure.h"
#include "report.h"
#include "table.h"

#define COLUMNS 3
#define LABEL	34 /* columns of a name, with its indentation */

void report_imports(FILE *f, const struct profile *p)
{
	struct imports_total all = imports_total(&p->imports);
	char ns[FIGURE];

	fprintf(f, "%" PRIu64 " module%s, %s", all.modules, all.modules == 1 ? "" : "s", figure_span(ns, all.ns));
}

/* Of a row: "    json.decoder", and what took most of its own time. 0 or -ENOMEM. */
static int fill(struct table_row *row, const struct import *i)
{
	uint64_t ns;
	const struct code *most = import_most(i, &ns);
	char *label;

	if (asprintf(&label, "%*s%s", 2 * (int)i->depth, "", i->name) < 0)
		return -ENOMEM;
	*row = (struct table_row){ .group = label, .of = { i->self_ns, i->total_ns, i->n }, .name.code = most };
	row->name.line = most ? most->firstlineno : 0;
	row->name.offset = SAMPLE_NOWHERE;
	if (!most)
		row->name.text = (char *)"-";
	return 0;
}

static size_t count(const struct imports *all)
{
	size_t n = 0;

	for (const struct import *i = NULL; (i = imports_next(all, i));)
		n++;
	return n;
}

int report_imports_tree(const struct report *r)
{
	static const struct table_column columns[COLUMNS] = { { "self", COLUMN_SPAN, 0 },
							      { "total", COLUMN_SPAN, 0 },
							      { "times", COLUMN_COUNT, 0 } };
	const struct table t = { columns, COLUMNS, "what took most of self", "import", LABEL };
	size_t n = count(&r->p->imports), at = 0;
	struct table_row *rows = calloc(n + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	for (const struct import *i = NULL; !err && (i = imports_next(&r->p->imports, i)); at++)
		err = fill(&rows[at], i);
	if (!err) {
		fputs(n ? "\n" : "\nNo imports were recorded.\n", r->f);
		err = n ? table_write(r, &t, rows, n) : 0;
	}
	for (size_t k = 0; rows && k < n; k++)
		free((char *)rows[k].group);
	free(rows);
	return err;
}
