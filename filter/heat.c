// SPDX-License-Identifier: MIT
#include "heat.h"

#include <errno.h>
#include <stdlib.h>

#include "body.h"

/* The lines that the code object has instructions of; damaged tables may name any. */
static void find_lines(const struct code *code, struct heat *h)
{
	int64_t first = INT32_MAX, last = 0;

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		int32_t line = code->instrs[i].line;

		if (line > 0 && line < first)
			first = line;
		if (line > last)
			last = line;
	}
	if (last - first >= HEAT_LINES_MOST)
		last = first - 1;
	h->first = first;
	h->last = last;
}

static void add(struct heat *h, const struct body_row *row)
{
	struct heat_line *line = &h->lines[row->instr->line - h->first];
	double cycles = row->cycles * row->times;

	line->code = true;
	h->measured |= row->measured;
	if (!row->known)
		return;
	line->known = true;
	line->cycles += cycles;
	h->sum += cycles;
	if (line->cycles > h->most)
		h->most = line->cycles;
}

int heat_of(const struct code *code, struct heat *h)
{
	struct body_row *rows = calloc(code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_code(code, rows, code->ninstrs) : 0;

	*h = (struct heat){ 0 };
	find_lines(code, h);
	if (h->last >= h->first)
		h->lines = calloc(h->last - h->first + 1, sizeof(*h->lines));
	for (size_t i = 0; i < n && h->lines; i++)
		if (rows[i].instr->line >= h->first && rows[i].instr->line <= h->last)
			add(h, &rows[i]);
	free(rows);
	return !rows || (h->last >= h->first && !h->lines) ? -ENOMEM : 0;
}

void heat_free(struct heat *h)
{
	free(h->lines);
	*h = (struct heat){ .last = -1 };
}
