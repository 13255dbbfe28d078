/* SPDX-License-Identifier: MIT */
/*
 * heat.h - what the lines of a function cost: the sums over their instructions (body.h).
 *
 * Where INSTRUCTION events were recorded all lines that ran are known, and measured. Elsewhere only
 * those of loops are: a trip's cycles, what it called included, over the instructions of its block.
 */
#ifndef OCULAR_HEAT_H
#define OCULAR_HEAT_H

#include "function.h"

struct heat_line {
	bool code;     /* it has instructions */
	bool known;    /* cycles mean something */
	double cycles; /* of all times that it ran */
};

struct heat {
	int32_t first, last; /* lines, both included; last < first: the function has none */
	bool measured;	     /* instruction to instruction, not blocks' averages */
	double most;	     /* cycles of the hottest line; 0: no line is known */
	double sum;	     /* of all lines */
	struct heat_line *lines; /* [last - first + 1] */
};

/* More lines than this between a function's first and last are not believed. */
#define HEAT_LINES_MOST 100000

/* The lines of a code object that has run. 0 or -ENOMEM; heat_free either way. */
int heat_of(const struct code *code, struct heat *h);
void heat_free(struct heat *h);

#endif
