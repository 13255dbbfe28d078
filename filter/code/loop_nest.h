/* SPDX-License-Identifier: MIT */
/*
 * loop_nest.h - which loops of a code object are inside which, from its bytecode.
 *
 * extent.h defines a loop. A handler that does not jump back into it does not count as part of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "extent.h"

#define LOOP_NEST_NONE (-1)

struct loop_nest_loop {
	uint32_t head;	/* bytes */
	uint32_t start; /* of every trip: the last target of its back-edges (heads.h) */
	struct extent extent;
	int32_t around; /* the innermost loop around it, or LOOP_NEST_NONE */
};

struct loop_nest {
	struct loop_nest_loop *loops; /* ascending heads */
	int32_t *of;		      /* [code->ninstrs] the innermost loop of each instruction, or LOOP_NEST_NONE */
	uint32_t nloops;
};

/* 0, or -ENOMEM, and then there is nothing to free. */
int loop_nest_make(struct loop_nest *n, const struct code *code);

/* The loop whose head is at offset, or LOOP_NEST_NONE. */
int32_t loop_nest_find(const struct loop_nest *n, int64_t head);

/* Is loop `inner` inside `outer`, or the same? Everything is inside LOOP_NEST_NONE. */
bool loop_nest_within(const struct loop_nest *n, int32_t inner, int32_t outer);

void loop_nest_free(struct loop_nest *n);
