/* SPDX-License-Identifier: MIT */
/* numbers.c - see numbers.h. */
#include "numbers.h"

#define MET_MASK 0xfffu

/* A word with a number keeps its slot to the end of the chunk. */
static void take_slot(const struct numbers *n, struct numbered *slot, uint64_t word)
{
	if (slot->known != n->chunk)
		*slot = (struct numbered){ .word = word, .met = n->chunk & MET_MASK };
}

uint32_t numbers_meet(struct numbers *n, struct numbered *slot, uint64_t word)
{
	if (slot->word != word) {
		take_slot(n, slot, word);
		return 0;
	}
	if (slot->met != (n->chunk & MET_MASK)) {
		slot->met = n->chunk & MET_MASK;
		return 0;
	}
	if (!slot->number && n->last < MARKER_NUMBER_MAX)
		slot->number = ++n->last;
	slot->known = slot->number ? n->chunk : 0;
	return slot->number;
}
