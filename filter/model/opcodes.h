/* SPDX-License-Identifier: MIT */
/*
 * opcodes.h - which bytecodes ran, how often, how long, and which ran after which.
 *
 * A table of a loop, a function, or the whole program is added up at the end of a trace from the counts in the code
 * objects (function.h). While the trace is read, only the counts of each instruction are kept, and only if INSTRUCTION
 * events were recorded.
 *
 *   struct opcodes o = { .source = opcodes_source(profile) };
 *   err = opcodes_add_function(&o, code);      any number of these
 *   opcodes_sort(&o, OPCODES_BY_TIME);         then read rows and pairs; nothing can be added any more
 *   opcodes_free(&o);
 *
 * The time of an opcode lasts until the thread's next INSTRUCTION event, including calls, returns and one callback
 * each. A pair is two consecutive INSTRUCTION events of one thread, across calls and returns, but not across gaps; it
 * belongs to the place of the first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "profile.h"

enum opcodes_source {
	OPCODES_UNKNOWN,  /* neither instructions nor back-edges were recorded: tables stay empty */
	OPCODES_MEASURED, /* by INSTRUCTION events: exact */
	/*
	 * By trips and calls: as though each trip of a loop ran every instruction of its block once,
	 * and each call those outside loops. No times; pairs are those within a code object.
	 */
	OPCODES_DERIVED,
};

struct opcode_row {
	const char *base, *specialized; /* names, of the code tables; equal where not specialised */
	uint64_t n;
	uint64_t timed;		   /* of these: their end was seen */
	uint64_t ns, cycles;	   /* of the timed ones */
	struct callback callbacks; /* what those of all n cost */
	uint32_t was, is;	   /* of opcodes_sort: an index before it, and after it */
	bool leaves;		   /* the next instruction in the code never runs after it */
};

struct opcode_pair {
	uint32_t from, to; /* indices of rows */
	uint64_t n;
	uint64_t ns; /* of the second's, behind the first; */
};

struct opcodes {
	enum opcodes_source source;
	struct opcode_row *rows;
	uint32_t nrows;
	struct opcode_pair *pairs;
	uint32_t npairs;
	uint64_t n, ns, cycles; /* sums over rows */
	struct callback callbacks;
	struct map row_of;  /* (process, base, adaptive) -> index + 1 */
	struct map pair_of; /* (from, to) -> index + 1 */
};

enum opcodes_order {
	OPCODES_BY_TIME, /* total cycles; the count where there are no times */
	OPCODES_BY_COUNT,
	OPCODES_BY_PER_CALL, /* mean cycles of one */
	OPCODES_BY_NAME,
};

/* How the opcodes of a recording are known. */
enum opcodes_source opcodes_source(const struct profile *p);

/* All three: 0 or -ENOMEM. Code objects without bytecode or totals add nothing. */
int opcodes_add_program(struct opcodes *o, const struct profile *p);
int opcodes_add_function(struct opcodes *o, const struct code *code);
int opcodes_add_loop(struct opcodes *o, const struct loop *loop); /* of its body */

/* Rows in that order, pairs by their number; ties by names. */
void opcodes_sort(struct opcodes *o, enum opcodes_order order);

/* Mean cycles of one; 0 where none was timed. */
double opcode_per_call(const struct opcode_row *row);

#define OPCODES_NONE UINT32_MAX

/* The index of a row, made on first use, nothing counted. OPCODES_NONE: no memory. */
uint32_t opcodes_row(struct opcodes *o, const struct process *p, uint8_t base, uint8_t adaptive);

/* The index of the row of those names; OPCODES_NONE: there is none. */
uint32_t opcodes_find(const struct opcodes *o, const char *base, const char *specialized);

/* By name, as strcmp. */
int opcode_compare(const struct opcode_row *a, const struct opcode_row *b);

/* How many pairs begin with a row: the whole of which "X is followed by Y n %" is a part. */
uint64_t opcodes_followed(const struct opcodes *o, uint32_t from);

void opcodes_free(struct opcodes *o);
