/* SPDX-License-Identifier: MIT */
/*
 * numbered.h - which event words and C_CALLs have numbers at a place of a trace (docs/marker.md, "Words of 32 bits"),
 * as far as the chunk before that place tells. The recorder writes a word by its number wherever there is one: so who
 * knows the words also knows which of them are short.
 */
#pragma once

#include <stdint.h>

/* Words of a chunk that can have one, the first ones: four times what the recorder gives. */
#define NUMBERED_MOST	    4096u
#define NUMBERED_SLOTS_BITS 13 /* twice as many, so that some are always free */

/* Zeroed, and after numbered_begin(): none. Words are without their sequence numbers. */
struct numbered {
	uint32_t chunk;	 /* counted from 1 */
	uint32_t next;	 /* number of the event word that comes next; 0: it has none */
	uint32_t callee; /* and what it calls, so that the number is a C_CALL's; 0: it is the word's own */
	uint32_t given;	 /* in this chunk */
	struct numbered_slot {
		uint64_t word;
		uint32_t number, chunk;
	} by_word[1u << NUMBERED_SLOTS_BITS], by_number[1u << NUMBERED_SLOTS_BITS];
};

/* A chunk begins: it has numbers of its own. */
void numbered_begin(struct numbered *n);

/* A whole word comes. */
void numbered_meet(struct numbered *n, uint64_t word);

/* The number that stands for a word, the last one that it was given; 0: none. */
uint32_t numbered_of(const struct numbered *n, uint64_t word);

/* And the word that has got a number, the last one; 0: not known. */
uint64_t numbered_word(const struct numbered *n, uint32_t number);
