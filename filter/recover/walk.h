/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the control flow of one code object's bytecode.
 *
 * A place is the index of an instruction. Exceptions are not part of it: markers say where they lead.
 */
#pragma once

#include "code/code.h"
#include "code/dispatch.h"

#define WALK_NOWHERE UINT32_MAX
#define WALK_WAYS    8 /* at most this many places follow a place */
#define WALK_AHEAD   4 /* how many of them a node has, so that its size is a power of two */

/* Which sides of a branch are possible. */
enum side { SIDE_NEXT = 1, SIDE_JUMP = 2, SIDE_BOTH = 3 };

struct walk {
	const struct dispatch *dispatch;
	uint32_t n;
	struct walk_node {
		uint32_t jump;		 /* place of the target, WALK_NOWHERE: none */
		uint32_t to[WALK_AHEAD]; /* the places that may be dispatched next, if the opcode decides which */
		uint32_t offset;
		uint8_t ahead[WALK_AHEAD]; /* base opcodes there; 0: none. All are 0 if one is at two places */
		uint8_t base, flow;
		uint8_t ways; /* 1: only to the next place, and that is not a NOT_TAKEN */
	} nodes[];
};

/* NULL: no memory. d must outlive it. Freed with free(). */
struct walk *walk_new(const struct code *code, const struct dispatch *d);

/* The places that may be dispatched after `from`; returns how many. */
unsigned walk_next(const struct walk *w, uint32_t from, enum side side, uint32_t to[WALK_WAYS]);

/* The only place that may be dispatched after the node's by this opcode, which is not 0; WALK_NOWHERE: walk_next(). */
static inline uint32_t walk_to(const struct walk_node *node, uint8_t base)
{
	if (node->ahead[0] == base)
		return node->to[0];
	for (unsigned i = 1; i < WALK_AHEAD; i++)
		if (node->ahead[i] == base)
			return node->to[i];
	return WALK_NOWHERE;
}

/* Which side of the branch at `from` the destination is on; SIDE_BOTH: neither. */
enum side walk_side(const struct walk *w, uint32_t from, uint32_t destination);
