/* SPDX-License-Identifier: MIT */
/*
 * costs.h - the self time of each place of the code, and the calls made from it.
 *
 * A place is the instruction or the line that a frame was at, as far as events tell: with INSTRUCTION events each
 * instruction, with LINE events each line, else the whole function. Times of all places are the functions' self times,
 * to the last ns. Memory grows with the program, not with its trace. Sinks pass samples on to it and read it at the
 * end.
 */
#pragma once

#include "base/map.h"
#include "sink.h"
#include "tstate.h"

enum place_kind {
	PLACE_WHOLE,	   /* somewhere in the function */
	PLACE_LINE,	   /* `at` is a line number */
	PLACE_INSTRUCTION, /* `at` is an offset in bytes */
};

struct place {
	struct code *code;
	uint8_t kind; /* enum place_kind */
	uint32_t at;  /* 0 for PLACE_WHOLE */
	uint64_t ns, cycles;
	uint64_t instructions; /* INSTRUCTION events */
};

/* Calls of one function from one place. */
struct place_calls {
	uint32_t from; /* costs.places[] */
	struct code *callee;
	uint64_t calls; /* resumptions included */
	/* With all callees; calls of what is already open on the stack are left out. */
	uint64_t ns, cycles, instructions;
};

struct costs {
	struct place *places;
	struct place_calls *calls;
	uint32_t nplaces, places_size, ncalls, calls_size;
	struct map place_index; /* what they are known by -> index + 1 */
	struct map calls_index;
	struct map codes; /* struct code -> number + 1, for shorter keys */
	struct tstates stacks;
	bool stepped; /* INSTRUCTION events came */
};

/* A zeroed struct is an empty one. All: 0 or -ENOMEM. */
int costs_sample(struct costs *c, const struct sample *s);
int costs_enter(struct costs *c, const struct activation *a);
int costs_resume(struct costs *c, const struct activation *a);
int costs_leave(struct costs *c, const struct activation *a, enum leave_how how, uint64_t end_ns, uint64_t end_cycles);

/* Adds those of other processes, whose codes were given back (codes_part.h). 0 or -ENOMEM. */
int costs_join(struct costs *to, const struct costs *more);

void costs_free(struct costs *c);
