/* SPDX-License-Identifier: MIT */
/*
 * ambiguous.h - which branches of a code object the opcodes that run do not tell apart.
 *
 * In mode `opcodes` the way through the bytecode is recovered from the opcodes alone. Where the two
 * ways out of a branch begin with different ones, that tells which was taken. Where they do not, the
 * branch needs a marker. What is found doubtful here without being so costs a marker; the analysis
 * does not rely on this.
 */
#ifndef OCULAR_AMBIGUOUS_H
#define OCULAR_AMBIGUOUS_H

#include <Python.h>

#include "bytecode.h"

/* What an instruction does to the way, of base opcodes; opcodes.py gives it (set_flow). */
enum ambiguous_flow { WAY_NEXT, WAY_JUMP, WAY_BRANCH, WAY_FOR, WAY_END, WAY_CALL, WAY_SKIPPED };

struct flow_tables {
	uint8_t flow[256];
	uint8_t for_skips; /* instructions that an exhausted FOR_ITER skips at its target */
	bool wanted;	   /* mode opcodes */
};

/* A bit for each code unit: set at the branches in doubt. NULL: none are, or no memory. free() it. */
uint8_t *ambiguous_find(const struct opcode_tables *ops, const struct flow_tables *flow, PyCodeObject *code);

static inline bool ambiguous_at(const uint8_t *bits, uint32_t unit)
{
	return bits && bits[unit >> 3] >> (unit & 7) & 1;
}

#endif
