// SPDX-License-Identifier: MIT
/* Two hash tables with open addressing: a slot of another chunk is a free one. */
#include "numbered.h"

#include <stdbool.h>

#include "shared/marker.h"

#define SLOTS (1u << NUMBERED_SLOTS_BITS)

static uint32_t slot_of_word(uint64_t word)
{
	return word * 0x9e3779b97f4a7c15ull >> (64 - NUMBERED_SLOTS_BITS); /* 2^64 by the golden ratio */
}

static bool is_free(const struct numbered *n, const struct numbered_slot *slot)
{
	return slot->chunk != n->chunk;
}

/* Where the word is, or the free slot where it belongs. */
static uint32_t find_word(const struct numbered *n, uint64_t word)
{
	uint32_t at = slot_of_word(word);

	while (!is_free(n, &n->by_word[at]) && n->by_word[at].word != word)
		at = (at + 1) % SLOTS;
	return at;
}

static uint32_t find_number(const struct numbered *n, uint32_t number)
{
	uint32_t at = number % SLOTS;

	while (!is_free(n, &n->by_number[at]) && n->by_number[at].number != number)
		at = (at + 1) % SLOTS;
	return at;
}

void numbered_begin(struct numbered *n)
{
	n->chunk++;
	n->next = n->callee = n->given = 0;
}

static void give(struct numbered *n, uint64_t word, uint32_t number)
{
	struct numbered_slot slot = { word, number, n->chunk };

	if (n->given == NUMBERED_MOST)
		return;
	n->given++;
	n->by_word[find_word(n, word)] = slot;
	n->by_number[find_number(n, number)] = slot;
}

void numbered_meet(struct numbered *n, uint64_t word)
{
	if (n->next && marker_is_event(word))
		give(n, marker_c_call_of(word, n->callee) ?: word, n->next);
	n->next = n->callee = 0;
	if (marker_is_extension(word) && marker_kind(word) == KIND_NUMBER) {
		n->next = marker_number(word);
		n->callee = marker_numbered_callee(word);
	}
}

uint32_t numbered_of(const struct numbered *n, uint64_t word)
{
	const struct numbered_slot *slot = &n->by_word[find_word(n, word)];

	return is_free(n, slot) ? 0 : slot->number;
}

uint64_t numbered_word(const struct numbered *n, uint32_t number)
{
	const struct numbered_slot *slot = &n->by_number[find_number(n, number)];

	return is_free(n, slot) ? 0 : slot->word;
}
