// SPDX-License-Identifier: MIT
/* Nodes are made once for each code object; NOT_TAKEN and END_FOR may be passed without a dispatch. */
#include "walk.h"

#include <stdlib.h>

static uint32_t place_of(const struct code *code, int64_t offset)
{
	uint32_t i = offset < 0 ? code->ninstrs : code_index(code, offset);

	return i < code->ninstrs && code->instrs[i].offset == offset ? i : WALK_NOWHERE;
}

static bool is_straight(const struct walk *w, uint32_t i)
{
	uint8_t flow = w->nodes[i].flow;

	return (flow == FLOW_NEXT || flow == FLOW_PROLOGUE || flow == FLOW_RESUME) && i + 1 < w->n &&
	       w->nodes[i + 1].base != w->dispatch->not_taken;
}

/* The places that follow, if each begins with another opcode. */
static void look_ahead(struct walk *w, uint32_t place)
{
	struct walk_node *node = &w->nodes[place];
	uint32_t to[WALK_WAYS];
	unsigned n = walk_next(w, place, SIDE_BOTH, to);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			if (w->nodes[to[i]].base == w->nodes[to[k]].base)
				return;
	for (unsigned i = 0; i < n && n <= WALK_AHEAD; i++) {
		node->to[i] = to[i];
		node->ahead[i] = w->nodes[to[i]].base;
	}
}

struct walk *walk_new(const struct code *code, const struct dispatch *d)
{
	struct walk *w = calloc(1, sizeof(*w) + code->ninstrs * sizeof(w->nodes[0]));

	if (!w)
		return NULL;
	w->dispatch = d;
	w->n = code->ninstrs;
	for (uint32_t i = 0; i < w->n; i++)
		w->nodes[i] = (struct walk_node){ .jump = place_of(code, code->instrs[i].target),
						  .offset = code->instrs[i].offset,
						  .base = code->instrs[i].base,
						  .flow = d->flow[code->instrs[i].base] };
	for (uint32_t i = 0; i < w->n; i++) {
		w->nodes[i].ways = is_straight(w, i);
		if (!code->excluded)
			look_ahead(w, i);
	}
	return w;
}

static void add(const struct walk *w, uint32_t place, uint32_t to[WALK_WAYS], unsigned *n)
{
	if (place >= w->n || *n == WALK_WAYS)
		return;
	for (unsigned i = 0; i < *n; i++)
		if (to[i] == place)
			return;
	to[(*n)++] = place;
}

/* The place, and the next one if it may be passed over. */
static void arrive(const struct walk *w, uint32_t place, uint32_t to[WALK_WAYS], unsigned *n)
{
	add(w, place, to, n);
	if (place < w->n && w->dispatch->not_taken && w->nodes[place].base == w->dispatch->not_taken)
		add(w, place + 1, to, n);
}

/* Generators come to END_FOR; other exhausted iterators go on behind it. */
static void exhaust(const struct walk *w, uint32_t place, uint32_t to[WALK_WAYS], unsigned *n)
{
	arrive(w, place, to, n);
	if (place < w->n && w->nodes[place].base == w->dispatch->end_for)
		arrive(w, place + w->dispatch->for_skips, to, n);
}

unsigned walk_next(const struct walk *w, uint32_t from, enum side side, uint32_t to[WALK_WAYS])
{
	const struct walk_node *node = &w->nodes[from];
	unsigned n = 0;

	switch ((enum flow)node->flow) {
	case FLOW_JUMP:
		arrive(w, node->jump, to, &n);
		break;
	case FLOW_BRANCH:
	case FLOW_FOR:
		if (side & SIDE_NEXT)
			arrive(w, from + 1, to, &n);
		if (side & SIDE_JUMP && node->flow == FLOW_FOR)
			exhaust(w, node->jump, to, &n);
		else if (side & SIDE_JUMP)
			arrive(w, node->jump, to, &n);
		break;
	case FLOW_RETURN:
	case FLOW_RAISE:
	case FLOW_UNKNOWN:
		break;
	default:
		arrive(w, from + 1, to, &n);
	}
	return n;
}

enum side walk_side(const struct walk *w, uint32_t from, uint32_t destination)
{
	uint32_t to[WALK_WAYS];

	for (unsigned n = walk_next(w, from, SIDE_JUMP, to); n--;)
		if (to[n] == destination)
			return SIDE_JUMP;
	for (unsigned n = walk_next(w, from, SIDE_NEXT, to); n--;)
		if (to[n] == destination)
			return SIDE_NEXT;
	return SIDE_BOTH;
}
