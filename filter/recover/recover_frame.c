// SPDX-License-Identifier: MIT
/* undecided.h says why several places are kept. */
#include "recover_frame.h"

void recover_frame_lose(struct recover_frame *f, struct undecided *d)
{
	undecided_give_up(d, f->step);
	f->step = UNDECIDED_NONE;
	f->n = 0;
	f->follows = f->arrives = false;
	f->side = SIDE_BOTH;
}

void recover_frame_put(struct recover_frame *f, struct undecided *d, uint32_t place)
{
	unsigned i = 0;

	while (i < f->n && f->at[i].place != place)
		i++;
	if (i < f->n && !f->arrives)
		undecided_settle(d, f->step, i);
	else
		undecided_give_up(d, f->step);
	f->step = UNDECIDED_NONE;
	f->n = place < f->walk->n;
	f->at[0] = (struct undecided_place){ place, 0 };
	f->follows = f->arrives = false;
	f->side = SIDE_BOTH;
}

/*
 * The instruction at the offset, or the one whose inline cache contains it: CPython reports an exception there if it
 * came from an inlined call (BINARY_SUBSCR_GETITEM).
 */
uint32_t recover_frame_place(const struct recover_frame *f, int64_t offset)
{
	uint32_t i = code_index(f->code, offset);

	return i < f->code->ninstrs && offset < 2 * (int64_t)f->code->units ? i : WALK_NOWHERE;
}

/*
 * A branch is reported when it is taken, or by the instruction it led to (3.14: NOT_TAKEN, POP_ITER), which has run by
 * then.
 */
void recover_frame_branch(struct recover_frame *f, struct undecided *d, const struct sample *s)
{
	uint32_t from = recover_frame_place(f, s->offset), target = recover_frame_place(f, s->target);
	uint32_t to[WALK_WAYS];
	enum side side = from < f->walk->n ? walk_side(f->walk, from, target) : SIDE_BOTH;
	unsigned ways = from < f->walk->n ? walk_next(f->walk, from, side, to) : 0;

	for (unsigned i = 0; i < f->n; i++)
		for (unsigned k = 0; k < ways && f->at[i].place != from; k++)
			if (f->at[i].place == to[k]) {
				recover_frame_put(f, d, to[k]);
				return;
			}
	recover_frame_put(f, d, from);
	f->side = side;
}

static void add_place(struct undecided_place *places, unsigned *n, uint32_t place, unsigned from)
{
	for (unsigned i = 0; i < *n && i < UNDECIDED_PLACES; i++)
		if (places[i].place == place) {
			places[i].from = UNDECIDED_MERGED;
			return;
		}
	if (*n < UNDECIDED_PLACES)
		places[*n] = (struct undecided_place){ place, from };
	(*n)++;
}

unsigned recover_frame_reach(const struct recover_frame *f, uint8_t base,
			     struct undecided_place places[UNDECIDED_PLACES])
{
	uint32_t to[WALK_WAYS];
	unsigned n = 0, ways;

	for (unsigned i = 0; i < f->n; i++) {
		const struct walk_node *node = &f->walk->nodes[f->at[i].place];

		if (node->ahead[0] && base && !f->arrives && f->side == SIDE_BOTH) {
			to[0] = walk_to(node, base);
			if (to[0] != WALK_NOWHERE)
				add_place(places, &n, to[0], i);
			continue;
		}
		to[0] = f->at[i].place;
		ways = f->arrives ? 1 : walk_next(f->walk, f->at[i].place, f->side, to);
		for (unsigned k = 0; k < ways; k++)
			if (f->walk->nodes[to[k]].base == base)
				add_place(places, &n, to[k], i);
	}
	return n;
}

static bool is_behind(const struct walk *w, uint32_t place, uint8_t base)
{
	uint32_t to[WALK_WAYS];
	unsigned ways = walk_next(w, place, SIDE_BOTH, to);

	for (unsigned k = 0; k < ways; k++)
		if (w->nodes[to[k]].base == base)
			return true;
	return false;
}

bool recover_frame_repeats(const struct recover_frame *f, uint8_t base, bool pair)
{
	struct undecided_place places[UNDECIDED_PLACES];
	unsigned n = recover_frame_reach(f, base, places);

	if (!n || n > UNDECIDED_PLACES)
		return true;
	for (unsigned i = 0; i < n; i++) {
		uint32_t place = places[i].place;

		if (is_behind(f->walk, place, base))
			return true;
		if (pair && place + 1 < f->walk->n && is_behind(f->walk, place + 1, base))
			return true;
	}
	return false;
}

bool recover_frame_has(const struct recover_frame *f, uint32_t behind, uint8_t base)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->at[i].place + behind < f->walk->n && f->walk->nodes[f->at[i].place + behind].base == base)
			return true;
	return false;
}

bool recover_frame_next(struct recover_frame *f, struct undecided *d)
{
	for (unsigned i = 0; i < f->n; i++) {
		f->at[i].place++;
		f->at[i].from = i;
		if (f->at[i].place >= f->walk->n) {
			recover_frame_lose(f, d);
			return false;
		}
	}
	return true;
}
