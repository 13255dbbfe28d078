/* SPDX-License-Identifier: MIT */
/*
 * extent.h - where in its code object's bytecode a loop lies.
 *
 * Its body reaches from its head, the target of its back-edges, to its last back-edge. CPython puts exception handlers
 * behind all code that runs without an exception (flowgraph.c: push_cold_blocks_to_end), so a handler that continues
 * the loop is apart from it, with other loops between. A handler belongs to a loop if it jumps back into its body.
 *
 *   head ... body   what does not belong to it   handlers ... end
 *
 * Code tables do not say which handler belongs to which `try`. There may be handlers of other loops between `handlers`
 * and `end`; and a loop that only a handler repeats is taken to reach that far: its body ends behind `handlers`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "code.h"

/* Offsets in bytes, inclusive. */
struct extent {
	int64_t body;	  /* the last back-edge to the head before `handlers`, else of all; at least the head */
	int64_t handlers; /* the first handler behind the head; INT64_MAX: there is none */
	int64_t end;	  /* the last jump back to head or body; at least `body` */
};

/* Where the loop at head lies. If the bytecode is not known, it is the head alone. */
struct extent extent_of(const struct code *code, int64_t head);

/* A back-edge that is not in the bytecode, which is not known: everything up to there belongs to the loop. */
static inline void extent_reach(struct extent *e, int64_t back_edge)
{
	if (back_edge > e->end)
		e->body = e->end = back_edge;
}

/* Does an offset behind the loop's head belong to the loop, handlers included? */
static inline bool extent_has(const struct extent *e, int64_t offset)
{
	return offset <= e->body || (e->handlers <= offset && offset <= e->end);
}
