/* SPDX-License-Identifier: MIT */
/*
 * heat.h - what the lines of a function cost.
 *
 * Where INSTRUCTION events were recorded, a line's cycles are those of its instructions; where LINE events were, those
 * from line to line, without calls. Elsewhere only blocks are known (body.h): the loop's line has the cycles of all its
 * trips, calls included, and the block's other lines have none of their own.
 */
#pragma once

#include "model/function.h"

enum heat_source {
	HEAT_BLOCKS,	   /* of loops */
	HEAT_INSTRUCTIONS, /* sums of measured ones */
	HEAT_LINES,	   /* measured from line to line */
};

struct heat_line {
	bool code;	     /* it has instructions */
	bool known;	     /* cycles mean something */
	double cycles;	     /* of all its executions, or of its block's */
	uint64_t waiting_ns; /* the part of these in which the thread waited; of a block in timed trips */
	double block;	     /* of the block it is in, if others have that one's cycles; 0: in none */
};

struct heat {
	enum heat_source source;
	int32_t first, last;	 /* lines, both included; last < first: the function has none, */
	bool many;		 /* or more than CODE_LINES_MOST */
	double most;		 /* cycles of the hottest line; 0: no line is known */
	double sum;		 /* of all lines */
	uint64_t most_waiting;	 /* ns of the line that waited most */
	struct heat_line *lines; /* [last - first + 1] */
};

/* The lines of a code object that has run. 0 or -ENOMEM; heat_free either way. */
int heat_of(const struct code *code, struct heat *h);
void heat_free(struct heat *h);
