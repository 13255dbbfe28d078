/* SPDX-License-Identifier: MIT */
/*
 * specialization.h - what the interpreter made of a code object's instructions.
 *
 * PEP 659: an instruction with specialised forms is replaced by one of them when it has met operands of one kind often
 * enough, and goes back to its base form when it no longer does. The code table has the opcodes when first seen and at
 * the end (docs/marker.md), not between.
 */
#pragma once

#include "codes.h"

enum specialized {
	SPECIALIZED_NEVER_CAN, /* its opcode has no other form */
	SPECIALIZED_NOT,       /* it has one, but stayed base */
	SPECIALIZED_YES,
	SPECIALIZED_UNKNOWN, /* base, and the header does not list which opcodes can specialise */
};

struct specialization {
	bool known; /* the state at the end is known; else only the first */
	uint32_t instructions;
	uint32_t able;	      /* have specialised forms; meaningful if process->ables */
	uint32_t specialized; /* at the end */
	uint32_t base;	      /* able, but base at the end */
	uint32_t first;	      /* specialised when first seen */
	uint32_t gained;      /* base at first, specialised at the end */
	uint32_t lost;	      /* specialised at first, base at the end */
	uint32_t changed;     /* specialised both times, but differently */
};

/* Is the state known in which the code's opcodes were when it died or tracing stopped? */
bool specialization_known(const struct code *code);

struct specialization specialization_of(const struct code *code);

/* Adds up counts of instructions. */
void specialization_join(struct specialization *to, const struct specialization *more);

enum specialized specialized_of(const struct code *code, const struct instr *instr);
