/* SPDX-License-Identifier: MIT */
/*
 * unwind.h - the C functions that a thread was in, from its registers and a copy of the end of its stack.
 *
 * By the unwind tables; where code has none, by the frame pointer if it plausibly is one. Else the stack ends there:
 * nothing is guessed.
 */
#pragma once

#include "space.h"

#define UNWIND_MOST 64u /* functions */

/*
 * Innermost first, in `places`; the function that evaluates bytecode is the last one. Returns how many, at least 1: of
 * code that is in no file, one without object. *misses: an address that the space did not know was met.
 */
size_t unwind(struct objects *all, const struct space *s, struct registers r, const struct stack_copy *stack,
	      struct place places[UNWIND_MOST], bool *misses);
