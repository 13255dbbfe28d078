/* SPDX-License-Identifier: MIT */
/*
 * heads.h - which loop of the source a back-edge repeats: its head, and the line of its `while` or `for`.
 *
 * A `for` has one target of back-edges, its FOR_ITER (GET_ANEXT if it is async). A `while` has two up to CPython 3.13,
 * which copies its test to the end of the body (compile.c: compiler_while):
 *
 *   test      <- `continue` jumps here; a NOP if the test is constant
 *   body      <- the copy of the test jumps here if it holds
 *   copy of the test, JUMP_BACKWARD to body
 *
 * Where the body begins with another `while`, its first test is the target of both. Lines distinguish them: a body is
 * on later lines than its test. A jump back from an exception handler to what follows the `try` repeats nothing, nor
 * does one back to the END_SEND of an await.
 */
#pragma once

#include "code.h"

/* Sets the back_edges of a code object whose instructions were read, and that has none. 0 or -ENOMEM. */
int heads_mark(struct process *p, struct code *code);
