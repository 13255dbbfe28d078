/* SPDX-License-Identifier: MIT */
/*
 * nest.h - how the loops of a code object lie in one another, read off its bytecode.
 *
 * What a loop is, extent.h says. A handler that does not jump back into one is not seen to be of it.
 */
#ifndef OCULAR_NEST_H
#define OCULAR_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "extent.h"

#define NEST_NONE (-1)

struct nest_loop {
	uint32_t head; /* bytes */
	struct extent extent;
	int32_t around; /* the innermost loop around it, or NEST_NONE */
};

struct nest {
	struct nest_loop *loops; /* ascending heads */
	int32_t *of;		 /* [code->ninstrs] the innermost loop of each instruction, or NEST_NONE */
	uint32_t nloops;
};

/* 0, or -ENOMEM and then nothing is to be freed. */
int nest_make(struct nest *n, const struct code *code);

/* The loop whose head is at offset, or NEST_NONE. */
int32_t nest_find(const struct nest *n, int64_t head);

/* Is loop `inner` within `outer`, or the same? Everything is within NEST_NONE. */
bool nest_within(const struct nest *n, int32_t inner, int32_t outer);

void nest_free(struct nest *n);

#endif
