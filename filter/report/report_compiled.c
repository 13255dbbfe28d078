// SPDX-License-Identifier: MIT
/* What ran as machine code of CPython's JIT. */
#include <errno.h>
#include <stdlib.h>

#include "code/compiled.h"
#include "report.h"
#include "report_write.h"

#define ROWS 10

static void write_row(const struct report *r, const struct compiled_row *row)
{
	const struct function *f = row->code->function;

	write_share(r, row->ns, r->p->traced_ns);
	write_duration(r, row->ns);
	write_number(r, row->n);
	fputs("   ", r->f);
	write_share(r, row->ns, f ? f->self_ns : 0);
	write_place(r, row->code, row->line ? row->line : row->code->firstlineno, SAMPLE_NOWHERE, 33);
}

static void write_table(const struct report *r, const struct compiled_row *rows, size_t n)
{
	bool places = true;

	write_title(r, "Compiled code, of the time of all threads");
	fputs(" share       time   runs  of self  loop\n", r->f);
	for (size_t i = 0; i < n; i++) {
		write_row(r, &rows[i]);
		places &= rows[i].line > 0;
	}
	fputs("A run: the interpreter enters the loop's compiled code. Of self: its part of the\n"
	      "function's self time; the rest was interpreted.\n",
	      r->f);
	if (!places)
		fputs("At a function's first line: which of its loops is not known.\n", r->f);
}

int report_compiled(const struct report *r)
{
	size_t n = 0;
	struct compiled_row *rows = r->p->zoomed ? NULL : compiled_rows(r->p->codes, &n);

	if (!rows)
		return r->p->zoomed ? 0 : -ENOMEM;
	if (n)
		write_table(r, rows, n < ROWS ? n : ROWS);
	free(rows);
	return 0;
}
