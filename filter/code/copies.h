/* SPDX-License-Identifier: MIT */
/*
 * copies.h - a code object's copies of its bytecode, where each thread specializes one of its own: free-threaded
 * CPython from 3.14 on (docs/marker.md, `copy`). Copy 0 is the main thread's; a thread that ends leaves its copies to
 * the next.
 *
 * A zeroed struct has none, as on all other CPythons.
 */
#pragma once

#include <stdint.h>

#include "code.h"

struct copy {
	uint32_t number;
	uint8_t *forms; /* of each instruction of the code object: its opcode in this copy */
};

/* The copy of that number as it is now, made if need be with all instructions in their base form. NULL: no memory. */
struct copy *copies_get(struct code *code, uint32_t number);

/*
 * Instruction i of the copy has this form. The code's own `adaptive` becomes the specialised form that most copies
 * have, the first of them where there are several.
 */
void copies_set(struct code *code, struct copy *copy, uint32_t i, uint8_t form);

/* What read lines for all copies said does not count: another process's will. */
void copies_clear(struct code *code);

/* Copies that have this form of instruction i. */
uint32_t copies_having(const struct code *code, uint32_t i, uint8_t form);

/* Instructions that the copy has specialised; that can be, and have not been. */
struct copy_state {
	uint32_t specialized, base;
};
struct copy_state copies_state(const struct code *code, const struct copy *copy);

/* The next instruction from i on that has not the same form in all copies; ninstrs if there is none. */
uint32_t copies_differ(const struct code *code, uint32_t i);

/* Which copy a thread runs. 0 or -ENOMEM. */
int copies_add_thread(struct process *p, uint32_t tid, uint32_t number);
