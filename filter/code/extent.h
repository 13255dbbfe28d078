/* SPDX-License-Identifier: MIT */
/*
 * extent.h - where in its code object's bytecode a loop lies.
 *
 * From its head, the target of its back-edges, to its last back-edge: that is its body. CPython puts exception
 * handlers behind all code that runs without an exception (flowgraph.c: push_cold_blocks_to_end), so what continues a
 * loop after an exception is apart, and other loops are between. A handler is of a loop if it jumps back into its body.
 *
 *   head ... body   what does not belong to it   handlers ... end
 *
 * Code tables do not tell which handler is of which `try`. Between `handlers` and `end` may be handlers of other loops;
 * and a loop that nothing but a handler repeats is taken to reach up to there: its body ends behind `handlers`.
 */
#ifndef OCULAR_EXTENT_H
#define OCULAR_EXTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "code.h"

/* Offsets in bytes, inclusive. */
struct extent {
	int64_t body; /* the last back-edge to the head ahead of `handlers`, or of all if none is; at least the head */
	int64_t handlers; /* the first handler behind the head; INT64_MAX: there is none */
	int64_t end;	  /* the last jump back to head or body; at least `body` */
};

/* Where the loop at head lies. Where the bytecode is not known it is the head alone. */
struct extent extent_of(const struct code *code, int64_t head);

/* A back-edge that the bytecode does not hold, for it is not known: all up to there is of the loop. */
static inline void extent_reach(struct extent *e, int64_t back_edge)
{
	if (back_edge > e->end)
		e->body = e->end = back_edge;
}

/* Is what lies at an offset behind the loop's head within the loop, handlers included? */
static inline bool extent_has(const struct extent *e, int64_t offset)
{
	return offset <= e->body || (e->handlers <= offset && offset <= e->end);
}

#endif
