/* SPDX-License-Identifier: MIT */
/*
 * specialization.h - what the interpreter made of a code object's instructions.
 *
 * PEP 659: an instruction with specialised forms is replaced by one of them when what it meets is of
 * one kind often enough, and goes back to its base form when that ceases. The code table has the
 * opcodes at first sight and at the end (docs/marker.md); what they were between is not known.
 */
#ifndef OCULAR_SPECIALIZATION_H
#define OCULAR_SPECIALIZATION_H

#include "codes.h"

enum specialized {
	SPECIALIZED_NEVER_CAN, /* its opcode has no other form */
	SPECIALIZED_NOT,       /* it has, and stayed base */
	SPECIALIZED_YES,
	SPECIALIZED_UNKNOWN, /* base, and which opcodes can be is not told by the header */
};

struct specialization {
	bool known; /* how the opcodes were at the end; else only what they were at first */
	uint32_t instructions;
	uint32_t able;	      /* have specialised forms; meaningful if process->ables */
	uint32_t specialized; /* at the end */
	uint32_t base;	      /* able, but base at the end */
	uint32_t first;	      /* specialised when first seen */
	uint32_t gained;      /* base at first, specialised at the end */
	uint32_t lost;	      /* specialised at first, base at the end */
	uint32_t changed;     /* specialised both times, but not alike */
};

/* Is it known how the code's opcodes were when it died or tracing stopped? */
bool specialization_known(const struct code *code);

struct specialization specialization_of(const struct code *code);

enum specialized specialized_of(const struct code *code, const struct instr *instr);

#endif
