// SPDX-License-Identifier: MIT
#include "body.h"

/*
 * A loop that only a handler repeats may not be one (docs/limits.md), and then no trip of it was timed: its
 * instructions run as often as the code around it.
 */
static bool has_block(const struct loop *loop)
{
	return loop->cycles.n || loop->extent.body < loop->extent.handlers;
}

const struct loop *body_block(const struct function *f, int64_t offset)
{
	for (uint32_t i = function_loops_before(f, offset + 1); i-- > 0;)
		if (offset <= f->loops[i]->extent.body && has_block(f->loops[i]))
			return f->loops[i];
	return NULL;
}

/* The innermost loop around the i-th one, in whose handler it may be. NULL: there is none. */
static const struct loop *around(const struct function *f, uint32_t i)
{
	int64_t head = f->loops[i]->head;

	while (i-- > 0)
		if (extent_has(&f->loops[i]->extent, head))
			return f->loops[i];
	return NULL;
}

/*
 * Cycles of all trips of a loop. The first trip of each entry is not timed: it is assumed to have the median length,
 * not the mean, because one long wait among the timed ones would count many times over.
 */
static double all_cycles(const struct loop *loop)
{
	uint64_t untimed = loop->iterations - loop->cycles.n;

	return loop->cycles.sum + (double)untimed * stat_quantile(&loop->cycles, 0.5);
}

/* Is the i-th loop in this one, and in no other between? */
static bool is_inner(const struct function *f, uint32_t i, const struct loop *loop)
{
	return extent_has(&loop->extent, f->loops[i]->head) && around(f, i) == loop;
}

double body_block_cycles(const struct loop *loop)
{
	const struct function *f = loop->code->function;
	double cycles = stat_mean(&loop->cycles);

	for (uint32_t i = function_loops_before(f, loop->head + 1);
	     i < f->nloops && f->loops[i]->head <= loop->extent.end; i++)
		if (is_inner(f, i, loop))
			cycles -= all_cycles(f->loops[i]) / loop->iterations;
	return cycles > 0 ? cycles : 0;
}

uint64_t body_block_waiting(const struct loop *loop)
{
	const struct function *f = loop->code->function;
	uint64_t inner = 0;

	for (uint32_t i = function_loops_before(f, loop->head + 1);
	     i < f->nloops && f->loops[i]->head <= loop->extent.end; i++)
		if (is_inner(f, i, loop))
			inner += f->loops[i]->off.waiting_ns;
	return loop->off.waiting_ns > inner ? loop->off.waiting_ns - inner : 0;
}

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

/* The blocks of the rows before it are numbered, *blocks of them so far. */
static void number_block(struct body_row *rows, size_t i, unsigned *blocks)
{
	size_t before = i;

	while (before > 0 && rows[before - 1].block != rows[i].block)
		before--;
	rows[i].first_of_block = !before;
	rows[i].block_number = before ? rows[before - 1].block_number : ++*blocks;
}

static size_t rows_between(const struct code *code, int64_t from, int64_t to, struct body_row *rows, size_t size)
{
	const struct function *f = code->function;
	unsigned blocks = 0;
	size_t n = 0;

	for (uint32_t i = code_index(code, from); i < code->ninstrs && n < size; i++) {
		const struct instr *instr = &code->instrs[i];

		if (instr->offset > to)
			break;
		if (from > instr->offset)
			continue;
		rows[n] = f->costs ? measured_row(instr, &f->costs[i])
				   : (struct body_row){ .instr = instr, .block = body_block(f, instr->offset) };
		if (rows[n].block)
			number_block(rows, n, &blocks);
		n++;
	}
	return n;
}

size_t body_rows(const struct loop *loop, struct body_row *rows, size_t size)
{
	return rows_between(loop->code, loop->head, loop->extent.body, rows, size);
}

size_t body_code(const struct code *code, struct body_row *rows, size_t size)
{
	return rows_between(code, 0, INT64_MAX, rows, size);
}
