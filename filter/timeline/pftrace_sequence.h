/* SPDX-License-Identifier: MIT */
/*
 * pftrace_sequence.h - a thread's packets: their clock, and which names they have defined.
 *
 * It has a clock of its own that counts from packet to packet, its track is the default for its events, and names are
 * written once and are numbers from then on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pftrace_sequence {
	uint64_t clock;	 /* ns */
	uint64_t *known; /* a bit for each number it has defined */
	size_t words;
};

/* NULL: no memory. */
struct pftrace_sequence *pftrace_sequence_new(void);

static inline bool pftrace_sequence_knows(const struct pftrace_sequence *s, uint64_t number)
{
	return number / 64 < s->words && s->known[number / 64] >> number % 64 & 1;
}

/* The word with the bit of `number`, which is 1 << number % 64; NULL: no memory. */
uint64_t *pftrace_sequence_word(struct pftrace_sequence *s, uint64_t number);

void pftrace_sequence_free(struct pftrace_sequence *s);
