/* SPDX-License-Identifier: MIT */
/*
 * ambiguous.h - which branches of a code object cannot be decided from the opcodes that run.
 *
 * In mode `opcodes` the control flow is recovered from the opcodes alone. If the two sides of a branch begin with
 * different ones, they show which was taken. Otherwise the branch needs a marker. A branch that is wrongly found
 * ambiguous here costs a marker; the analysis does not rely on this.
 */
#pragma once

#include <Python.h>
#include <stdatomic.h>

#include "bytecode.h"

/* The effect of an instruction on control flow, for base opcodes; from opcodes.py (set_flow). */
enum ambiguous_flow { WAY_NEXT, WAY_JUMP, WAY_BRANCH, WAY_FOR, WAY_END, WAY_CALL, WAY_SKIPPED };

struct flow_tables {
	uint8_t flow[256];
	uint8_t for_skips;  /* instructions that an exhausted FOR_ITER skips at its target */
	atomic_bool wanted; /* mode opcodes */
};

/* A bit for each code unit: set at ambiguous branches. NULL: there are none, or no memory. free() it. */
uint8_t *ambiguous_find(const struct opcode_tables *ops, const struct flow_tables *flow, PyCodeObject *code);

static inline bool ambiguous_at(const uint8_t *bits, uint32_t unit)
{
	return bits && bits[unit >> 3] >> (unit & 7) & 1;
}
