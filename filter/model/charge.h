/* SPDX-License-Identifier: MIT */
/*
 * charge.h - the time of a thread, charged to the instructions and lines that it runs.
 *
 * An instruction runs from its INSTRUCTION event to the thread's next one, in whatever function: calls and returns in
 * between count. A line runs from its LINE event to the activation's next one or its end, without what it called. Costs
 * are kept with the code object (function.h).
 */
#pragma once

#include "chains.h"
#include "profile.h"
#include "stack.h"

/* What a thread's time is charged to. Zeroed except for the time: nothing is known to run. */
struct charged {
	struct instr_cost *instr;  /* the instruction that is running, NULL if not known: profile.no_opcode is */
	struct instr_cost *before; /* what ran before it, NULL if not known, */
	int follower;		   /* and which of its followers it is */
	uint64_t ns, cycles;	   /* since when */
	struct chain_end chain;	   /* what ran last; only if chains are counted */
	uint8_t ran, form;	   /* its opcode that ran; the same if the sample has it, else 0 */
};

/*
 * The sample is an INSTRUCTION, not before c->ns and c->cycles: what was running ends, and this begins. 0 or -ENOMEM.
 */
int charge_next(struct charged *c, const struct sample *s, struct profile *p);

/* What is running is charged up to there, and nothing is known to run after it. */
void charge_last(struct charged *c, uint64_t ns, uint64_t cycles, struct profile *p);

/*
 * The thread is off for that time, or, if it is negative, was not: charged to all that is open on its stacks. A
 * function's self time is that of the innermost activation, on the stack `inner`; and so is its line's.
 */
void charge_off(struct stack *stacks, const struct stack *inner, struct off d);

/* The frame's running line ends at `cycles`, and `next` begins. NULL: none is known to run. */
static inline void charge_line(struct frame *f, uint64_t cycles, struct line_cost *next)
{
	uint64_t own = cycles - f->a.start_cycles - f->a.callee_cycles;

	if (f->line)
		f->line->cycles += own - f->line_cycles;
	if (next)
		next->n++;
	f->line = next;
	f->line_cycles = own;
}
