// SPDX-License-Identifier: MIT
#include "body.h"

int32_t loop_line(const struct loop *loop)
{
	const struct code *code = loop->code;
	uint32_t i = code_index(code, loop->head);

	return i < code->ninstrs && code->instrs[i].line > 0 ? code->instrs[i].line : 0;
}

static bool contains(const struct loop *loop, int64_t offset)
{
	return loop->head <= offset && offset <= loop->end;
}

/* The loop with the largest head below `limit` that contains offset, NULL if none does. */
static const struct loop *innermost(const struct function *f, int64_t offset, int64_t limit)
{
	for (uint32_t i = f->nloops; i-- > 0;)
		if (f->loops[i]->head < limit && contains(f->loops[i], offset))
			return f->loops[i];
	return NULL;
}

const struct loop *body_block(const struct function *f, int64_t offset)
{
	return innermost(f, offset, INT64_MAX);
}

/*
 * Cycles of all trips of a loop. The first trip of each entry is not timed: it is taken for one of
 * the usual length, not of the mean, for one long wait among the timed ones would count many times
 * over.
 */
static double all_cycles(const struct loop *loop)
{
	uint64_t untimed = loop->iterations - loop->cycles.n;

	return loop->cycles.sum + (double)untimed * stat_quantile(&loop->cycles, 0.5);
}

/* Cycles of a mean trip that were not spent in trips of inner loops. */
static double own_cycles(const struct function *f, const struct loop *loop)
{
	double cycles = stat_mean(&loop->cycles);

	for (uint32_t i = 0; i < f->nloops; i++) {
		const struct loop *inner = f->loops[i];

		if (inner != loop && innermost(f, inner->head, inner->head) == loop)
			cycles -= all_cycles(inner) / loop->iterations;
	}
	return cycles > 0 ? cycles : 0;
}

static uint32_t block_size(const struct function *f, const struct loop *loop)
{
	const struct code *code = loop->code;
	uint32_t n = 0;

	for (uint32_t i = code_index(code, loop->head); i < code->ninstrs; i++)
		if (contains(loop, code->instrs[i].offset))
			n += body_block(f, code->instrs[i].offset) == loop;
	return n;
}

struct average {
	const struct loop *block;
	double cycles;
};

static struct body_row measured_row(const struct instr *instr, const struct instr_cost *cost)
{
	return (struct body_row){
		.instr = instr,
		.known = cost->timed,
		.measured = true,
		.cost = cost,
		.times = cost->n,
		.cycles = cost->timed ? (double)cost->cycles / cost->timed : 0,
	};
}

/* The average of the block that offset is in. Neighbours share a block: it is kept in *last. */
static struct body_row average_row(const struct instr *instr, const struct function *f,
				   struct average *last)
{
	const struct loop *block = body_block(f, instr->offset);

	if (!block)
		return (struct body_row){ .instr = instr };
	if (block != last->block)
		*last = (struct average){ block, own_cycles(f, block) / block_size(f, block) };
	return (struct body_row){ .instr = instr,
				  .known = block->cycles.n,
				  .times = block->iterations,
				  .cycles = last->cycles };
}

static size_t rows_between(const struct code *code, int64_t from, int64_t to, struct body_row *rows,
			   size_t size)
{
	const struct function *f = code->function;
	struct average last = { 0 };
	size_t n = 0;

	for (uint32_t i = code_index(code, from); i < code->ninstrs && n < size; i++) {
		const struct instr *instr = &code->instrs[i];

		if (from <= instr->offset && instr->offset <= to)
			rows[n++] = f->costs ? measured_row(instr, &f->costs[i])
					     : average_row(instr, f, &last);
	}
	return n;
}

size_t body_rows(const struct loop *loop, struct body_row *rows, size_t size)
{
	return rows_between(loop->code, loop->head, loop->end, rows, size);
}

size_t body_code(const struct code *code, struct body_row *rows, size_t size)
{
	return rows_between(code, 0, INT64_MAX, rows, size);
}
