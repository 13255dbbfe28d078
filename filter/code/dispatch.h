/* SPDX-License-Identifier: MIT */
/*
 * dispatch.h - branch targets -> opcodes, by the table of handlers in a code table's header.
 *
 * The interpreter jumps to the handler of each instruction, and that address names the opcode that runs
 * (docs/opcodes.md). The name of an opcode says what it does to the control flow, so that one table serves all versions
 * of CPython.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISPATCH_BITS  13 /* many times the number of handlers: few share a slot */
#define DISPATCH_SLOTS (1 << DISPATCH_BITS)
#define DISPATCH_FULL  (DISPATCH_SLOTS / 4 * 3)

/* Where control goes after an instruction; for base opcodes. */
enum flow {
	FLOW_NEXT,
	FLOW_JUMP,	/* to its target only */
	FLOW_BRANCH,	/* to the next or to its target */
	FLOW_FOR,	/* the next, or its target: END_FOR, or the instruction after it */
	FLOW_RETURN,	/* leaves the frame */
	FLOW_YIELD,	/* leaves the frame, which may be resumed */
	FLOW_RAISE,	/* to a handler or out of the frame; markers say where */
	FLOW_RESUME,	/* begins a frame or resumes it: a marker says which code */
	FLOW_PROLOGUE,	/* before RESUME, when its frame is not known yet */
	FLOW_GENERATOR, /* makes a generator; no event says of which code */
	FLOW_PREFIX,	/* not an instruction: the one it stands for follows */
	FLOW_NOWHERE,	/* of the interpreter's own frames, not of the program's code */
	FLOW_CLEANUP,	/* the same; a RETURN_VALUE of such a frame follows */
	FLOW_UNKNOWN,	/* what runs next is not dispatched: compiled code */
};

enum dispatch_kind {
	DISPATCH_NONE,	/* no handler */
	DISPATCH_OP,	/* *opcode runs */
	DISPATCH_AGAIN, /* the next dispatch is the same instruction, just specialised */
};

struct dispatch {
	uint64_t addresses[DISPATCH_SLOTS]; /* 0: none */
	struct dispatch_slot {
		uint8_t kind, opcode;
	} slots[DISPATCH_SLOTS];
	uint32_t used;
	uint8_t base[256];  /* what the compiler wrote */
	bool pair[256];	    /* runs the next instruction too */
	bool gives_up[256]; /* a form that falls back to the common one if the operands do not fit: then not */
	bool head[256];	    /* may replace itself by a specialised form and dispatch that */
	uint8_t flow[256];  /* enum flow, of base opcodes */
	uint8_t for_skips;  /* instructions that an exhausted FOR_ITER skips at its target */
	uint8_t end_for, not_taken, pop_top; /* numbers; 0: there is none */
	uint8_t iterates; /* what a generator expression runs before RETURN_GENERATOR; 0: its caller does */
	uint8_t twice;	  /* its first run is dispatched again, in its specialised form */
};

/* All of the following are called once; then the struct is read only. */
void dispatch_init(struct dispatch *d, const uint8_t base[256], char *const names[256]);

/* The handler of an opcode. If opcodes share one, the first given counts. -ENOMEM: too many. */
int dispatch_add(struct dispatch *d, uint64_t address, enum dispatch_kind kind, uint8_t opcode);

static inline uint32_t dispatch_hash(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15ull >> (64 - DISPATCH_BITS);
}

/* NULL: no handler. */
static inline const struct dispatch_slot *dispatch_slot(const struct dispatch *d, uint64_t address)
{
	uint32_t at = dispatch_hash(address);

	while (d->addresses[at] != address) {
		if (!d->addresses[at])
			return NULL;
		at = (at + 1) & (DISPATCH_SLOTS - 1);
	}
	return &d->slots[at];
}

static inline enum dispatch_kind dispatch_at(const struct dispatch *d, uint64_t address, uint8_t *opcode)
{
	const struct dispatch_slot *s = dispatch_slot(d, address);

	if (!s)
		return DISPATCH_NONE;
	*opcode = s->opcode;
	return s->kind;
}
