/* SPDX-License-Identifier: MIT */
/*
 * chains.h - how often each chain of several opcodes ran one after the other.
 *
 * A chain of N is N INSTRUCTION events of one thread, one after the other, each in the form that ran. Like a pair it
 * continues through calls and returns, and ends at gaps, where tracing stops, and at code whose bytecode is not known.
 * Every instruction ends one chain: that of itself and the N - 1 before it.
 *
 * The table is of a fixed size. A chain in it is counted from its first time on, so its count is exact; one that is new
 * when the table is full counts as left out.
 */
#pragma once

#include "opcodes.h"

#define CHAINS_SHORTEST 3
#define CHAINS_LONGEST	8
#define CHAINS_MOST	262144 /* different ones: 12 MB */

struct chain {
	uint32_t forms[CHAINS_LONGEST]; /* indices of chains.forms.rows */
	uint32_t same_hash;		/* the next one with the same hash: index + 1; 0: none */
	uint64_t n;
};

/* The last opcodes of a thread. Zeroed: none is known. */
struct chain_end {
	uint32_t forms[CHAINS_LONGEST];
	uint32_t n;
};

/* Zeroed but for the length. */
struct chains {
	unsigned length;      /* CHAINS_SHORTEST to CHAINS_LONGEST */
	struct opcodes forms; /* rows with only names filled in */
	struct chain *all;
	uint32_t n;
	uint64_t counted, left_out; /* instructions that ended a chain: one in the table; another one */
	struct map by_hash;	    /* index + 1 of the first one */
};

/* The thread's next opcode ran. 0 or -ENOMEM. */
int chains_next(struct chains *c, struct chain_end *end, const struct process *p, uint8_t base, uint8_t ran);

/* The next instruction does not follow the last one. */
static inline void chains_break(struct chain_end *end)
{
	end->n = 0;
}

/* All chains, the most frequent first, ties by names; c->n of them in one malloc'ed array. NULL: no memory. */
const struct chain **chains_sorted(const struct chains *c);

/* For each of c->forms.rows its index in o->rows, OPCODES_NONE: not there; in one malloc'ed array. NULL: no memory. */
uint32_t *chains_rows(const struct chains *c, const struct opcodes *o);

void chains_free(struct chains *c);
