/* SPDX-License-Identifier: MIT */
/* block.h - instructions that QEMU translated together, and runs one after the other. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "handlers.h"
#include "insn.h"

struct block {
	uint64_t start, end;	 /* end: after the last instruction */
	uint64_t last;		 /* address of the last instruction */
	uint64_t target;	 /* of it, see insn.h */
	uint32_t n;		 /* instructions */
	enum insn_kind kind;	 /* of the last instruction */
	bool hidden;		 /* belongs to the emulator (guest.c): neither traced nor counted */
	bool compiled;		 /* was made by the program itself (compiled.h) */
	bool outside;		 /* outside the address filter: counted, not traced */
	bool tool;		 /* belongs to the tool (own.h): only its PTWRITEs are traced */
	struct handler *handler; /* that begins here, or NULL */
	struct block *older;
	uint16_t offsets[]; /* of the n instructions from start */
};

/* How many instructions come before the one at ip; n if there is none at ip. */
static inline uint32_t block_before(const struct block *b, uint64_t ip)
{
	uint32_t i = 0;

	while (i < b->n && b->start + b->offsets[i] != ip)
		i++;
	return i;
}
