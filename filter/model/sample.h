/* SPDX-License-Identifier: MIT */
/*
 * sample.h - the waist: what every front end makes and everything after it reads.
 *
 * A sample is one decoded event of one thread, complete in itself: nothing after this point knows
 * about marker words, packets or perf. Every duration downstream is one subtraction of two samples
 * of the same thread.
 */
#ifndef OCULAR_SAMPLE_H
#define OCULAR_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/event.h"

/* A sample's op is a marker op (event.h) or one of these, which only the decoder makes. */
enum sample_op {
	SAMPLE_GAP = 24,     /* markers are missing before this point of the thread: `count` of them */
	SAMPLE_FOREIGN = 25, /* a PTWRITE that is not ours; `count` of them */
	SAMPLE_RESTART = 26, /* the thread begins anew: exec, or tracing was stopped and started */
	SAMPLE_TIP = 27,     /* an indirect branch to address `target`; never comes behind recover.c */
	SAMPLE_UNMATCHED =
		28, /* sinks' `gap` alone: nothing is missing, but `count` calls or returns have no other end */
};

#define SAMPLE_NOWHERE (-1)

struct code;

struct sample {
	uint8_t op;	      /* enum marker_op or enum sample_op */
	uint8_t opcode;	      /* INSTRUCTION: what ran, specialised or not; 0: not known.
			       * SNAPSHOT: 1: a window of a duty cycle */
	uint8_t before;	      /* INSTRUCTION: as what it was dispatched, if then as `opcode`; else 0 */
	bool passed;	      /* the same: the form was given up for this time only */
	int32_t pid;	      /* -1: unknown */
	int32_t tid;	      /* -1: unknown */
	uint32_t interpreter; /* PyInterpreterState_GetID */
	uint64_t time;	      /* ns; the clock of the recording, never the wall clock */
	uint64_t cycles;      /* absolute, of this thread; codes.h says of which clock */
	struct code *code;    /* NULL for GAP, FOREIGN, RESTART, SNAPSHOT, FRAMES; owned by the code table */
	int64_t offset;	      /* bytes as PEP 669 gives it; LINE: the line; SNAPSHOT: 0 begin, 1 end;
			       * FRAMES: 1: traced from here on, 0: not */
	int64_t target;	      /* bytes; SAMPLE_NOWHERE unless the event has a destination */
	uint64_t count;	      /* GAP, FOREIGN: how many words; at least 1. SNAPSHOT: its number.
			       * FRAMES: how many are open */
};

/* The PEP 669 name of an event op, "GAP", "FOREIGN" or "RESTART"; NULL for any other number. */
const char *sample_op_name(unsigned op);

/* The op of that name, 0 if there is none. */
unsigned sample_op_by_name(const char *name);

/* What the op does to the Python stack. */
enum stack_effect sample_op_effect(unsigned op);

#endif
