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
	uint64_t clock; /* ns */
	char id[8];	/* a packet's field that says of which sequence it is: so many bytes of it */
	uint8_t id_length;
	uint64_t *known; /* a bit for each number it has defined */
	size_t words;
};

/* It has that number. NULL: no memory. */
struct pftrace_sequence *pftrace_sequence_new(uint32_t number);

static inline bool pftrace_sequence_knows(const struct pftrace_sequence *s, uint64_t number)
{
	return number / 64 < s->words && s->known[number / 64] >> number % 64 & 1;
}

/* The word with the bit of `number`, which is 1 << number % 64; NULL: no memory. */
uint64_t *pftrace_sequence_word(struct pftrace_sequence *s, uint64_t number);

void pftrace_sequence_free(struct pftrace_sequence *s);
