/* SPDX-License-Identifier: MIT */
/*
 * body.h - a loop's instructions, and the cost of each, or of the block that it is in.
 *
 * Where INSTRUCTION events were recorded, an instruction's cycles are measured: from its event to
 * the thread's next one. Elsewhere only whole trips are: of no instruction is anything known, but of its block. A
 * block is the instructions in whose bodies the innermost loop is the same, and its cycles are those of a trip
 * of that loop without the trips of the loops inside it. Exception handlers are in no block, but their cycles are.
 */
#pragma once

#include <stddef.h>

#include "function.h"

struct body_row {
	const struct instr *instr;
	bool measured;		       /* from instruction to instruction */
	bool known;		       /* the same, and some execution was seen to end: cycles mean something */
	uint64_t times;		       /* executed; 0 unless measured */
	double cycles;		       /* of one execution, calls included */
	const struct instr_cost *cost; /* NULL unless measured */
	const struct loop *block;      /* whose block it is in; NULL: in none, or measured */
	unsigned block_number;	       /* from 1 in the order of the rows; 0: in none */
	bool first_of_block;
};

/* The innermost loop whose body offset is in; NULL: in none that was seen to run. */
const struct loop *body_block(const struct function *f, int64_t offset);

/* Cycles of a mean trip that were not spent in trips of inner loops. Only if trips of the loop were timed. */
double body_block_cycles(const struct loop *block);

/* How long its timed trips waited, not in those of inner loops: ns, where it is known when threads were on a CPU. */
uint64_t body_block_waiting(const struct loop *block);

/*
 * The instructions from head to the end of its body (extent.h), up to `size` of them. How many; no more than
 * loop->code->ninstrs, and none if the bytecode is not known.
 */
size_t body_rows(const struct loop *loop, struct body_row *rows, size_t size);

/* All instructions of a code object that has run, likewise. */
size_t body_code(const struct code *code, struct body_row *rows, size_t size);
