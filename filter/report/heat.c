// SPDX-License-Identifier: MIT
#include "heat.h"

#include <errno.h>
#include <stdlib.h>

#include "model/body.h"

static void add(struct heat *h, int32_t number, double cycles, uint64_t waiting_ns)
{
	struct heat_line *line = &h->lines[number - h->first];

	line->known = true;
	line->cycles += cycles;
	h->sum += cycles;
	if (line->cycles > h->most)
		h->most = line->cycles;
	line->waiting_ns += waiting_ns;
	if (line->waiting_ns > h->most_waiting)
		h->most_waiting = line->waiting_ns;
}

static void add_lines(struct heat *h, const struct function *f)
{
	for (uint32_t i = 0; i < f->nlines; i++)
		if (f->lines[i].n)
			add(h, f->first_line + i, f->lines[i].cycles, f->lines[i].waiting_ns);
}

/* Once, at the line of its loop. */
static void add_block(struct heat *h, const struct loop *block, int32_t line)
{
	if (block->line >= h->first && block->line <= h->last)
		line = block->line;
	add(h, line, body_block_cycles(block) * block->iterations, body_block_waiting(block));
}

static void add_row(struct heat *h, const struct body_row *row)
{
	struct heat_line *line = &h->lines[row->instr->line - h->first];
	double block;

	if (row->known)
		add(h, row->instr->line, row->cycles * row->times, row->cost ? row->cost->waiting_ns : 0);
	if (!row->block || !row->block->cycles.n)
		return;
	if (row->first_of_block)
		add_block(h, row->block, row->instr->line);
	block = body_block_cycles(row->block) * row->block->iterations;
	line->block = block > line->block ? block : line->block;
}

static int add_instructions(struct heat *h, const struct code *code)
{
	struct body_row *rows = calloc(code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_code(code, rows, code->ninstrs) : 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].instr->line >= h->first)
			add_row(h, &rows[i]);
	free(rows);
	return rows ? 0 : -ENOMEM;
}

static void mark_code(struct heat *h, const struct code *code)
{
	for (uint32_t i = 0; i < code->ninstrs; i++)
		if (code->instrs[i].line >= h->first)
			h->lines[code->instrs[i].line - h->first].code = true;
}

int heat_of(const struct code *code, struct heat *h)
{
	const struct function *f = code->function;

	*h = (struct heat){ .last = -1 };
	if (!code_lines(code, &h->first, &h->last)) {
		h->many = h->first <= h->last;
		h->last = h->first - 1;
		return 0;
	}
	h->lines = calloc(h->last - h->first + 1, sizeof(*h->lines));
	if (!h->lines)
		return -ENOMEM;
	mark_code(h, code);
	h->source = f->costs ? HEAT_INSTRUCTIONS : f->lines ? HEAT_LINES : HEAT_BLOCKS;
	if (h->source != HEAT_LINES)
		return add_instructions(h, code);
	add_lines(h, f);
	return 0;
}

void heat_free(struct heat *h)
{
	free(h->lines);
	*h = (struct heat){ .last = -1 };
}
