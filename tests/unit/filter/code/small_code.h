/* SPDX-License-Identifier: MIT */
/* small_code.h - a small instruction set and code objects of it, for tests of dispatch, walk, recover. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "code/codes.h"
#include "code/dispatch.h"

enum {
	CACHE,
	LOAD,
	STORE,
	POP_TOP,
	END_FOR,
	NOT_TAKEN,
	RESUME,
	RETURN_VALUE,
	YIELD_VALUE,
	CALL,
	FOR_ITER,
	POP_JUMP_IF_TRUE,
	JUMP_BACKWARD,
	RETURN_GENERATOR,
	COPY_FREE_VARS,
	PUSH_EXC_INFO,
	RAISE_VARARGS,
	INTERPRETER_EXIT,
	EXIT_INIT_CHECK,
	GET_ITER,
	OPS_BASE,
	LOAD_FAST_PAIR = 100, /* LOAD, and what follows */
	CALL_APPEND,	      /* CALL and the POP_TOP that follows; or CALL only */
	FOR_ITER_RANGE,
	CALL_PY,
	GET_ITER_VIRTUAL,
	JUMP_BACKWARD_NO_JIT,
	INSTRUMENTED_RESUME = 240,
	INSTRUMENTED_LINE,
};

static char *const op_names[256] = {
	[CACHE] = "CACHE",
	[LOAD] = "LOAD",
	[STORE] = "STORE",
	[POP_TOP] = "POP_TOP",
	[END_FOR] = "END_FOR",
	[NOT_TAKEN] = "NOT_TAKEN",
	[RESUME] = "RESUME",
	[RETURN_VALUE] = "RETURN_VALUE",
	[YIELD_VALUE] = "YIELD_VALUE",
	[CALL] = "CALL",
	[FOR_ITER] = "FOR_ITER",
	[POP_JUMP_IF_TRUE] = "POP_JUMP_IF_TRUE",
	[JUMP_BACKWARD] = "JUMP_BACKWARD",
	[RETURN_GENERATOR] = "RETURN_GENERATOR",
	[COPY_FREE_VARS] = "COPY_FREE_VARS",
	[PUSH_EXC_INFO] = "PUSH_EXC_INFO",
	[RAISE_VARARGS] = "RAISE_VARARGS",
	[INTERPRETER_EXIT] = "INTERPRETER_EXIT",
	[EXIT_INIT_CHECK] = "EXIT_INIT_CHECK",
	[GET_ITER] = "GET_ITER",
	[LOAD_FAST_PAIR] = "LOAD__LOAD",
	[CALL_APPEND] = "CALL_APPEND",
	[FOR_ITER_RANGE] = "FOR_ITER_RANGE",
	[CALL_PY] = "CALL_PY",
	[GET_ITER_VIRTUAL] = "GET_ITER_VIRTUAL",
	[JUMP_BACKWARD_NO_JIT] = "JUMP_BACKWARD_NO_JIT",
	[INSTRUMENTED_RESUME] = "INSTRUMENTED_RESUME",
	[INSTRUMENTED_LINE] = "INSTRUMENTED_LINE",
};

/* Handlers are at 0x1000 + 16 * opcode, a place of second dispatch at AGAIN. */
#define HANDLER(op) (0x1000 + 16 * (uint64_t)(op))
#define AGAIN	    0x9000

static inline struct dispatch *make_dispatch(void)
{
	struct dispatch *d = malloc(sizeof(*d));
	uint8_t base[256];

	for (int op = 0; op < 256; op++)
		base[op] = op;
	base[LOAD_FAST_PAIR] = LOAD;
	base[CALL_APPEND] = CALL;
	base[FOR_ITER_RANGE] = FOR_ITER;
	base[CALL_PY] = CALL;
	base[GET_ITER_VIRTUAL] = GET_ITER;
	base[JUMP_BACKWARD_NO_JIT] = JUMP_BACKWARD;
	base[INSTRUMENTED_RESUME] = RESUME;
	dispatch_init(d, base, op_names);
	d->pair[LOAD_FAST_PAIR] = d->pair[CALL_APPEND] = true;
	for (int op = 0; op < 256; op++)
		if (op_names[op])
			dispatch_add(d, HANDLER(op), DISPATCH_OP, op);
	dispatch_add(d, AGAIN, DISPATCH_AGAIN, 0);
	return d;
}

struct code_row {
	uint8_t op;
	int8_t to; /* index of the target, 0: none */
};

/* Instructions at offsets 0, 2, 4 ... up to a row of CACHE, in the pool. */
static inline void fill_code(struct pool *pool, struct code *code, const struct code_row *rows)
{
	uint32_t n = 0;

	while (rows[n].op != CACHE)
		n++;
	code->instrs = pool_take(pool, n * sizeof(*code->instrs));
	code->ninstrs = n;
	code->units = n;
	for (uint32_t i = 0; i < n; i++)
		code->instrs[i] = (struct instr){ .offset = 2 * i,
						  .target = rows[i].to ? 2 * rows[i].to : -1,
						  .base = rows[i].op,
						  .adaptive = rows[i].op };
}
