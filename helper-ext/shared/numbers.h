/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - which event words of a thread have numbers (docs/marker.md, "Words of 32 bits"), so that they are written
 * in 6 bytes instead of 10: by the recorder, or by the thread itself with PTWRITE.
 *
 * A word takes the slot that its hash names, and gets a number when it comes for the second time in a chunk: from then
 * on to the end of the chunk the number stands for it. Each chunk begins without: it can be decoded alone. In the next
 * one the word has the same number, if its slot still has the word. A number is never given to another word.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "marker.h"

/* 16 KB. With 512 slots a recording of black (676,000 markers) is 3 % larger, with 2048 1 % smaller. */
#define NUMBERS_SLOTS_BITS 10
#define NUMBERS_MET_MASK   0xfffu

/* Zeroed: no word has come yet. */
struct numbers {
	uint32_t chunk; /* the current one, counted from 1 */
	uint32_t last;	/* number that was given */
	struct numbered {
		uint64_t word;	/* without seq; 0: none */
		uint32_t known; /* the chunk in which its number stands for it */
		uint32_t number : 20;
		uint32_t met : 12; /* the last chunk in which the word came, modulo 4096 */
	} slots[1u << NUMBERS_SLOTS_BITS];
};

static inline struct numbered *numbers_slot(struct numbers *n, uint64_t word)
{
	return &n->slots[word * 0x9e3779b97f4a7c15ull >> (64 - NUMBERS_SLOTS_BITS)]; /* 2^64 by the golden ratio */
}

/* Does its number stand for the word in this chunk? */
static inline bool numbers_knows(const struct numbered *slot, uint64_t word, uint32_t chunk)
{
	return slot->word == word && slot->known == chunk;
}

/* A word with a number keeps its slot to the end of the chunk. */
static inline void numbers_take_slot(const struct numbers *n, struct numbered *slot, uint64_t word)
{
	if (slot->known != n->chunk)
		*slot = (struct numbered){ .word = word, .met = n->chunk & NUMBERS_MET_MASK };
}

/* An event word that no number stands for comes, and is written whole. The number that it gets there, or 0. */
static inline uint32_t numbers_meet(struct numbers *n, struct numbered *slot, uint64_t word)
{
	if (slot->word != word) {
		numbers_take_slot(n, slot, word);
		return 0;
	}
	if (slot->met != (n->chunk & NUMBERS_MET_MASK)) {
		slot->met = n->chunk & NUMBERS_MET_MASK;
		return 0;
	}
	if (!slot->number && n->last < MARKER_NUMBER_MAX)
		slot->number = ++n->last;
	slot->known = slot->number ? n->chunk : 0;
	return slot->number;
}

/*
 * What comes before a word that gets a number: the word NUMBER. A C_CALL is then written as a CALL: readers that know
 * nothing of numbers take it for one of an unknown function.
 */
static inline uint64_t numbers_definition(uint64_t *word, uint32_t number)
{
	bool c_call = marker_is_c_call(*word);
	uint32_t callee = c_call ? marker_c_callee(*word) : 0;

	if (c_call)
		*word = marker_c_call_event(*word);
	return marker_number_of(number, callee);
}
