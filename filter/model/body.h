/* SPDX-License-Identifier: MIT */
/*
 * body.h - a loop's instructions, and the cost of each.
 *
 * Where INSTRUCTION events were recorded, an instruction's cycles are measured: from its event to
 * the thread's next one. Elsewhere only whole trips are known; then it is its block's average. A
 * block is the instructions in whose bodies the innermost loop is the same, and its cycles are those of a trip
 * of that loop without the trips of the loops inside it. Exception handlers are in no block, but their cycles are.
 */
#pragma once

#include <stddef.h>

#include "function.h"

struct body_row {
	const struct instr *instr;
	bool known;		       /* cycles mean something */
	bool measured;		       /* from instruction to instruction, not a block's average */
	uint64_t times;		       /* executed: counted, or the trips of its block; 0: not known */
	double cycles;		       /* of one execution, calls included */
	const struct instr_cost *cost; /* NULL unless measured */
};

/* The innermost loop whose body offset is in; NULL: in none that was seen to run. */
const struct loop *body_block(const struct function *f, int64_t offset);

/*
 * The instructions from head to the end of its body (extent.h), up to `size` of them. How many; no more than
 * loop->code->ninstrs, and none if the bytecode is not known.
 */
size_t body_rows(const struct loop *loop, struct body_row *rows, size_t size);

/* All instructions of a code object that has run, likewise. Outside of loops only measured ones are known. */
size_t body_code(const struct code *code, struct body_row *rows, size_t size);
