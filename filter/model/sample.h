/* SPDX-License-Identifier: MIT */
/*
 * sample.h - what every front end makes and everything after it reads.
 *
 * A sample is one decoded event of one thread, complete in itself: nothing after this point knows
 * about marker words, packets or perf. Every duration downstream is one subtraction of two samples
 * of the same thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shared/event.h"

/* A sample's op is a marker op (event.h) or one of these, which only the decoder makes. */
enum sample_op {
	SAMPLE_GAP = 24,     /* markers are missing before this point of the thread: `count` of them */
	SAMPLE_FOREIGN = 25, /* a PTWRITE that is not ours; `count` of them */
	SAMPLE_RESTART = 26, /* the thread begins anew: exec, or tracing was stopped and started */
	SAMPLE_TIP = 27,     /* an indirect branch to `address`; recover.c never passes it on */
	/* Only passed to sinks' `gap`: nothing is missing, but `count` calls or returns have no other end. */
	SAMPLE_UNMATCHED = 30,
};

#define SAMPLE_NOWHERE (-1)

struct code;
struct object; /* objects.h */

struct sample {
	uint8_t op; /* enum marker_op or enum sample_op */
	union {
		uint8_t opcode; /* INSTRUCTION: what ran, specialised or not; 0: not known */
		uint8_t kind;	/* EXTENSION: enum marker_kind, or one that this program does not know */
		bool window;	/* SNAPSHOT: whether it is a window of a duty cycle */
	};
	uint8_t before;	      /* INSTRUCTION: what it was dispatched as before it was dispatched as `opcode`; else 0 */
	bool passed;	      /* the same: it gave up the form for this execution only */
	int32_t pid;	      /* -1: unknown */
	int32_t tid;	      /* -1: unknown */
	uint32_t interpreter; /* PyInterpreterState_GetID */
	uint64_t time;	      /* ns; the clock of the recording, never the wall clock */
	uint64_t cycles;      /* absolute, of this thread; codes.h says of which clock */
	struct code *code;    /* NULL unless it is an event of PEP 669; owned by the code table */
	union {
		int64_t offset;	    /* bytes, as in PEP 669 */
		int64_t line;	    /* LINE: the line */
		bool ends;	    /* SNAPSHOT: it ends here; else it begins */
		struct code *named; /* EXTENSION: what its payload names (named.h), or NULL */
		bool traced;	    /* FRAMES: the interpreter is traced from here on; else it is not */
	};
	union {
		int64_t target;	 /* bytes; SAMPLE_NOWHERE unless the event has a destination */
		int64_t address; /* TIP */
	};
	union {
		uint64_t count;	     /* GAP, FOREIGN: how many words; at least 1 */
		uint64_t number;     /* SNAPSHOT: its number, or its window's */
		uint64_t open;	     /* FRAMES: how many are open */
		uint64_t payload;    /* EXTENSION: its 48 bits */
		struct code *callee; /* CALL: the C function that is called; NULL: not known to be one */
		uint64_t whose;	     /* PY_START to PY_THROW of generator code: KIND_OBJECT's payload, 0: not told; */
		struct object *generator; /* from thread.c on: that object, NULL: not known */
	};
};

_Static_assert(sizeof(struct sample) == 64, "a cache line: one is written and read for each marker");

/* What there is of an event of code that needs no sample: its thread is known (decode.h). */
struct code_event {
	struct code *code;
	struct code *callee; /* CALL: as a sample's */
	uint64_t time, cycles;
	uint64_t bits;		/* word_offset(), word_target() */
	const uint64_t *object; /* what PY_RESUME and PY_YIELD are about: as a sample's `whose` */
	uint32_t op;		/* enum marker_op */
};

/* The PEP 669 name of an event op, "GAP", "FOREIGN" or "RESTART"; NULL for any other number. */
const char *sample_op_name(unsigned op);

/* The op of that name, 0 if there is none. */
unsigned sample_op_by_name(const char *name);

/* What the op does to the Python stack. */
enum stack_effect sample_op_effect(unsigned op);
