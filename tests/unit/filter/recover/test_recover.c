/* SPDX-License-Identifier: MIT */
/* test_recover.c - dispatches and markers in, instructions with their places out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "recover/recover.h"
#include "../code/small_code.h"
#include "recover_gather.h"
#include "model/ticks.h"

/* Codes 1 to 7; offsets are twice the index. */
static const struct code_row loop[] = {
	/* for: if: LOAD LOAD; else LOAD STORE */
	{ RESUME, 0 },	{ FOR_ITER, 8 },      { STORE, 0 },	   { POP_JUMP_IF_TRUE, 6 },
	{ LOAD, 0 },	{ JUMP_BACKWARD, 1 }, { LOAD, 0 },	   { JUMP_BACKWARD, 1 },
	{ END_FOR, 0 }, { LOAD, 0 },	      { RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row caller[] = {
	{ RESUME, 0 },	     { LOAD, 0 },	   { CALL, 0 },	   { POP_TOP, 0 },	{ LOAD, 0 },
	{ RETURN_VALUE, 0 }, { PUSH_EXC_INFO, 0 }, { POP_TOP, 0 }, { RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row callee[] = {
	{ COPY_FREE_VARS, 0 }, { RESUME, 0 }, { LOAD, 0 }, { RAISE_VARARGS, 0 }, { CACHE, 0 },
};
static const struct code_row generator[] = {
	{ RETURN_GENERATOR, 0 }, { POP_TOP, 0 }, { RESUME, 0 }, { LOAD, 0 },	     { YIELD_VALUE, 0 },
	{ RESUME, 0 },		 { POP_TOP, 0 }, { LOAD, 0 },	{ RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row doubtful[] = {
	/* both ways are LOAD RETURN_VALUE, or LOAD STORE RETURN_VALUE */
	{ RESUME, 0 }, { POP_JUMP_IF_TRUE, 4 }, { LOAD, 0 }, { RETURN_VALUE, 0 }, { POP_JUMP_IF_TRUE, 7 },
	{ LOAD, 0 },   { RETURN_VALUE, 0 },	{ LOAD, 0 }, { STORE, 0 },	  { RETURN_VALUE, 0 },
	{ CACHE, 0 },
};
static const struct code_row alike[] = {
	{ RESUME, 0 }, { GET_ITER, 0 }, { GET_ITER, 0 }, { RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row appends[] = {
	/* two POP_TOPs behind one, one behind the other */
	{ RESUME, 0 },	{ CALL, 0 },	{ POP_TOP, 0 }, { LOAD, 0 },	     { CALL, 0 },
	{ POP_TOP, 0 }, { POP_TOP, 0 }, { LOAD, 0 },	{ RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row again[] = {
	{ RESUME, 0 },	{ CALL, 0 }, { POP_TOP, 0 },	  { CALL, 0 },
	{ POP_TOP, 0 }, { LOAD, 0 }, { RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row sides[] = {
	/* what tells them apart may get another form, or be a generator's */
	{ RESUME, 0 }, { POP_JUMP_IF_TRUE, 5 }, { LOAD, 0 },	     { GET_ITER, 0 }, { RETURN_VALUE, 0 },
	{ LOAD, 0 },   { POP_TOP, 0 },		{ RETURN_VALUE, 0 }, { CACHE, 0 },
};
static const struct code_row *const bodies[] = { NULL,	   loop,  caller,  callee, generator,
						 doubtful, alike, appends, again,  sides };

#define T(op) \
	{ \
		HANDLER(op), 0, 0, 0, 0 \
	}
#define ENTER(op) \
	{ \
		HANDLER(op), 0, 0, 0, ROW_ENTER \
	}
#define M(op, code, index) \
	{ \
		0, OP_##op, code, index, 0 \
	}
#define B(code, index, to) \
	{ \
		0, OP_BRANCH, code, index, to \
	}
/* Markers of code 11 and above are of interpreter 1, of 21 and above of 2: of the code without the tens. */
#define FRAMES(interpreter, open, traced) \
	{ \
		0, OP_FRAMES, 10 * (interpreter), traced, open \
	}

struct item {
	uint64_t tip;
	int op, code, index, to;
};

static const struct {
	const char *name;
	struct item items[40];
	const char *out; /* CODE:OFFSET of instructions, +CODE and -CODE of starts and ends; tens: the interpreter */
	unsigned placed, makers, unsure, lost, mismatches;
} cases[] = {
	{ "nothing", { { 0 } }, "", 0, 0, 0, 0, 0 },
	{ "before a marker nothing is ours",
	  { T(LOAD), T(CALL), T(RESUME), T(LOAD), T(RETURN_VALUE) },
	  "",
	  0,
	  0,
	  0,
	  0,
	  0 },
	{ "a loop, specialised; the way is told by what comes",
	  { T(INSTRUMENTED_RESUME), M(PY_START, 1, 0), T(FOR_ITER_RANGE), T(STORE), T(POP_JUMP_IF_TRUE), T(LOAD),
	    T(JUMP_BACKWARD), T(FOR_ITER_RANGE), T(LOAD), T(RETURN_VALUE) },
	  "1:0 +1 1:2* 1:4 1:6 1:2* 1:18 1:20 -1 ",
	  7,
	  0,
	  2,
	  0,
	  0 },
	{ "the same with its branch told",
	  { T(INSTRUMENTED_RESUME), M(PY_START, 1, 0), T(FOR_ITER), T(STORE), T(POP_JUMP_IF_TRUE), B(1, 3, 6), T(LOAD),
	    T(JUMP_BACKWARD), T(FOR_ITER), T(END_FOR), T(LOAD), T(RETURN_VALUE) },
	  "1:0 +1 1:2 1:4 1:6 1:12 1:14 1:2 1:16 1:18 1:20 -1 ",
	  10,
	  0,
	  0,
	  0,
	  0 },
	{ "dispatched again after specialisation",
	  { T(RESUME), M(PY_START, 1, 0), T(FOR_ITER), { AGAIN, 0, 0, 0, 0 }, T(FOR_ITER_RANGE), T(STORE) },
	  "1:0 +1 1:2* 1:4 ",
	  3,
	  0,
	  0,
	  0,
	  0 },
	{ "the same by a specialiser in line: there is no other FOR_ITER behind",
	  { T(RESUME), M(PY_START, 1, 0), T(FOR_ITER), T(FOR_ITER_RANGE), T(STORE) },
	  "1:0 +1 1:2* 1:4 ",
	  3,
	  0,
	  0,
	  0,
	  0 },
	{ "two of a family are two instructions where there are two",
	  { T(RESUME), M(PY_START, 6, 0), T(GET_ITER), T(GET_ITER_VIRTUAL), T(RETURN_VALUE) },
	  "6:0 +6 6:2 6:4* 6:6 -6 ",
	  4,
	  0,
	  0,
	  0,
	  0 },
	{ "and one where the specialiser was called",
	  { T(RESUME),
	    M(PY_START, 6, 0),
	    T(GET_ITER),
	    { AGAIN, 0, 0, 0, 0 },
	    T(GET_ITER_VIRTUAL),
	    T(GET_ITER),
	    T(RETURN_VALUE) },
	  "6:0 +6 6:2* 6:4 6:6 -6 ",
	  4,
	  0,
	  0,
	  0,
	  0 },
	{ "a specialised form that is given up by a dispatch did run",
	  { T(RESUME), M(PY_START, 1, 0), T(FOR_ITER_RANGE), T(FOR_ITER), T(STORE) },
	  "1:0 +1 1:2* 1:4 ",
	  3,
	  0,
	  0,
	  0,
	  0 },
	{ "a jump's first run",
	  { T(RESUME), M(PY_START, 1, 0), T(FOR_ITER), T(STORE), T(POP_JUMP_IF_TRUE), B(1, 3, 6), T(LOAD),
	    T(JUMP_BACKWARD), T(JUMP_BACKWARD_NO_JIT), T(FOR_ITER) },
	  "1:0 +1 1:2 1:4 1:6 1:12 1:14* 1:2 ",
	  7,
	  0,
	  0,
	  0,
	  0 },
	{ "a prefix is no instruction",
	  { T(RESUME), M(PY_START, 1, 0), T(INSTRUMENTED_LINE), T(FOR_ITER), T(INTERPRETER_EXIT), T(STORE) },
	  "1:0 +1 1:2 1:4 ",
	  3,
	  0,
	  0,
	  0,
	  0 },
	{ "one dispatch, two instructions",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD_FAST_PAIR), T(POP_TOP), T(LOAD), T(RETURN_VALUE) },
	  "2:0 +2 2:2* 2:4 2:6 2:8 2:10 -2 ",
	  6,
	  0,
	  0,
	  0,
	  0 },
	{ "two, if the form fits; what is dispatched next says so",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(LOAD) },
	  "7:0 +7 7:2* 7:4 7:6 ",
	  4,
	  0,
	  0,
	  0,
	  0 },
	{ "one, if it is given up",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(POP_TOP), T(LOAD) },
	  "7:0 +7 7:2* 7:4 7:6 ",
	  4,
	  0,
	  0,
	  0,
	  0 },
	{ "one, if it calls Python code and its second comes behind that",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(RESUME), M(PY_START, 6, 0), T(GET_ITER), T(GET_ITER),
	    T(RETURN_VALUE), T(POP_TOP), T(LOAD) },
	  "7:0 +7 7:2* 6:0 +6 6:2 6:4 6:6 -6 7:4 7:6 ",
	  8,
	  0,
	  0,
	  0,
	  0 },
	{ "two, with a finalizer between: too late to tell of the second",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(RESUME), M(PY_START, 6, 0), T(GET_ITER), T(GET_ITER),
	    T(RETURN_VALUE), T(LOAD), T(CALL) },
	  "7:0 +7 7:2* 6:0 +6 6:2 6:4 6:6 -6 7:6 7:8 ",
	  8,
	  0,
	  1,
	  0,
	  0 },
	{ "one or two: the opcode behind tells which, but not of the second",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(LOAD), T(CALL_APPEND), T(POP_TOP), T(LOAD),
	    T(RETURN_VALUE) },
	  "7:0 +7 7:2* 7:4 7:6 7:8* 7:12 7:14 7:16 -7 ",
	  8,
	  0,
	  1,
	  0,
	  0 },
	{ "two, and one more of the family behind them",
	  { T(RESUME), M(PY_START, 8, 0), T(CALL_APPEND), T(CALL), T(POP_TOP), T(LOAD) },
	  "8:0 +8 8:2* 8:4 8:6 8:8 8:10 ",
	  6,
	  0,
	  0,
	  0,
	  0 },
	{ "and the other way",
	  { T(RESUME), M(PY_START, 7, 0), T(CALL_APPEND), T(LOAD), T(CALL_APPEND), T(POP_TOP), T(POP_TOP), T(LOAD) },
	  "7:0 +7 7:2* 7:4 7:6 7:8* 7:10 7:12 7:14 ",
	  8,
	  0,
	  1,
	  0,
	  0 },
	{ "none, if the first raises",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL_APPEND), M(RAISE, 2, 2), M(EXCEPTION_HANDLED, 2, 6),
	    T(PUSH_EXC_INFO) },
	  "2:0 +2 2:2 2:4* 2:12 ",
	  4,
	  0,
	  0,
	  0,
	  0 },
	{ "an exception goes from the callee to the caller's handler",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL_PY), T(COPY_FREE_VARS), T(RESUME), M(PY_START, 3, 1), T(LOAD),
	    T(RAISE_VARARGS), M(RAISE, 3, 3), M(PY_UNWIND, 3, 3), M(EXCEPTION_HANDLED, 2, 6), T(PUSH_EXC_INFO),
	    T(POP_TOP), T(RETURN_VALUE) },
	  "2:0 +2 2:2 2:4* 3:0 3:2 +3 3:4 3:6 -3 2:12 2:14 2:16 -2 ",
	  10,
	  0,
	  0,
	  0,
	  0 },
	{ "a generator is made, begun, left and gone on with",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(RETURN_GENERATOR), T(CALL), T(POP_TOP), T(RESUME),
	    M(PY_START, 4, 2), T(LOAD), T(YIELD_VALUE), T(RESUME), M(PY_RESUME, 4, 5), T(POP_TOP), T(LOAD),
	    T(RETURN_VALUE), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 4:2 4:4 +4 4:6 4:8 -4 4:10 +4 4:12 4:14 4:16 -4 2:6 2:8 ",
	  13,
	  1,
	  0,
	  0,
	  0 },
	{ "a finalizer runs behind a POP_TOP",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(POP_TOP), T(RESUME), M(PY_START, 1, 0), T(FOR_ITER),
	    T(END_FOR), T(LOAD), T(RETURN_VALUE), T(INTERPRETER_EXIT), T(LOAD) },
	  "2:0 +2 2:2 2:4 2:6 1:0 +1 1:2 1:16 1:18 1:20 -1 2:8 ",
	  10,
	  0,
	  0,
	  0,
	  0 },
	{ "code that no marker tells of",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(RESUME), T(STORE), T(RETURN_VALUE), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 2:6 2:8 ",
	  5,
	  0,
	  0,
	  3,
	  0 },
	{ "all of it is counted once",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(COPY_FREE_VARS), T(RESUME), T(JUMP_BACKWARD),
	    T(JUMP_BACKWARD_NO_JIT), T(RETURN_VALUE), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 2:6 2:8 ",
	  5,
	  0,
	  0,
	  4,
	  0 },
	{ "a generator expression asks for its iterator before it is one",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(COPY_FREE_VARS), T(RESUME), T(LOAD), T(GET_ITER),
	    T(GET_ITER_VIRTUAL), T(RETURN_GENERATOR), T(CALL), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 2:6 2:8 ",
	  5,
	  1,
	  0,
	  4,
	  0 },
	{ "the interpreter's own frame around __init__",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(RESUME), M(PY_START, 1, 0), T(FOR_ITER), T(LOAD),
	    T(RETURN_VALUE), T(EXIT_INIT_CHECK), T(RETURN_VALUE), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 1:0 +1 1:2 1:18 1:20 -1 2:6 2:8 ",
	  9,
	  0,
	  0,
	  0,
	  0 },
	{ "a return tells the way behind it",
	  { T(RESUME), M(PY_START, 5, 0), T(POP_JUMP_IF_TRUE), T(POP_JUMP_IF_TRUE), T(LOAD), T(RETURN_VALUE) },
	  "5:0 +5 5:2 5:8 5:10 5:12 -5 ",
	  5,
	  0,
	  0,
	  0,
	  0 },
	{ "a store does",
	  { T(RESUME), M(PY_START, 5, 0), T(POP_JUMP_IF_TRUE), T(POP_JUMP_IF_TRUE), T(LOAD), T(STORE),
	    T(RETURN_VALUE) },
	  "5:0 +5 5:2 5:8 5:14 5:16 5:18 -5 ",
	  6,
	  0,
	  0,
	  0,
	  0 },
	{ "what does not fit is lost up to the next marker",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(STORE), T(LOAD), M(RAISE, 2, 4), M(EXCEPTION_HANDLED, 2, 6),
	    T(PUSH_EXC_INFO) },
	  "2:0 +2 2:2 2:12 ",
	  3,
	  0,
	  0,
	  2,
	  1 },
	{ "a POP_TOP at the end may be a generator's",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(POP_TOP) },
	  "2:0 +2 2:2 2:4 ",
	  3,
	  0,
	  1,
	  0,
	  0 },
	{ "and one before a RESUME without marker",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(POP_TOP), T(RESUME), T(RETURN_VALUE), T(LOAD) },
	  "2:0 +2 2:2 2:4 ",
	  3,
	  0,
	  1,
	  3,
	  0 },
	{ "after a gap nothing is known",
	  { T(RESUME),
	    M(PY_START, 3, 1),
	    T(LOAD),
	    T(RAISE_VARARGS),
	    { 0, SAMPLE_GAP, 0, 0, 0 },
	    T(CALL),
	    T(RESUME),
	    M(PY_START, 1, 0) },
	  "3:2 +3 3:4 3:6 1:0 +1 ",
	  4,
	  0,
	  0,
	  1,
	  0 },
	{ "nor whether a RESUME began before it",
	  { T(RESUME),
	    M(PY_START, 2, 0),
	    T(LOAD),
	    T(CALL),
	    { 0, SAMPLE_GAP, 0, 0, 0 },
	    T(RESUME),
	    T(INSTRUMENTED_LINE),
	    T(INSTRUMENTED_RESUME),
	    M(PY_START, 1, 0),
	    T(FOR_ITER),
	    T(STORE) },
	  "2:0 +2 2:2 +1 1:2 1:4 ",
	  4,
	  0,
	  1,
	  1,
	  0 },
	{ "an interpreter begins: its frames, of which some had ended by exceptions, are above the first one's",
	  { T(RESUME),	     M(PY_START, 2, 0),
	    T(LOAD),	     T(CALL),
	    T(RESUME),	     T(CALL),
	    T(RESUME),	     T(LOAD),
	    T(RESUME),	     FRAMES(1, 2, 1),
	    T(RESUME),	     M(PY_START, 16, 0),
	    T(GET_ITER),     T(GET_ITER),
	    T(RETURN_VALUE), T(POP_TOP),
	    T(RETURN_VALUE), T(LOAD),
	    T(RETURN_VALUE), T(INTERPRETER_EXIT),
	    T(POP_TOP),	     T(LOAD) },
	  "2:0 +2 2:2 2:4 16:0 +16 16:2 16:4 16:6 -16 2:6 2:8 ",
	  9,
	  0,
	  0,
	  9,
	  0 },
	{ "as does one in it: an exception tells of what code such a frame is, or leaves it",
	  { T(RESUME),
	    M(PY_START, 2, 0),
	    T(LOAD),
	    T(CALL),
	    T(RESUME),
	    T(CALL),
	    FRAMES(1, 2, 1),
	    M(RAISE, 11, 3),
	    M(PY_UNWIND, 11, 3),
	    M(RAISE, 12, 2),
	    M(EXCEPTION_HANDLED, 12, 6),
	    T(PUSH_EXC_INFO),
	    T(RESUME),
	    FRAMES(2, 1, 1),
	    T(RESUME),
	    M(PY_START, 23, 1),
	    T(LOAD),
	    M(RAISE, 23, 2),
	    M(PY_UNWIND, 23, 2),
	    M(RAISE, 26, 1),
	    M(PY_UNWIND, 26, 1),
	    T(POP_TOP),
	    T(RETURN_VALUE),
	    T(INTERPRETER_EXIT),
	    T(POP_TOP),
	    T(LOAD) },
	  "2:0 +2 2:2 2:4 -11 12:12 23:2 +23 23:4 -23 -26 12:14 12:16 -12 2:6 2:8 ",
	  10,
	  0,
	  0,
	  3,
	  0 },
	{ "one that is not traced any more runs a generator's end and leaves frames by exceptions; then it ends",
	  { T(RESUME),
	    M(PY_START, 2, 0),
	    T(LOAD),
	    T(CALL),
	    T(RESUME),
	    M(PY_START, 16, 0),
	    T(GET_ITER),
	    FRAMES(1, 1, 0),
	    T(PUSH_EXC_INFO),
	    T(LOAD),
	    T(RETURN_VALUE),
	    T(RETURN_VALUE),
	    T(RESUME),
	    T(CALL),
	    T(COPY_FREE_VARS),
	    T(RESUME),
	    T(CALL),
	    FRAMES(1, 0, 0),
	    T(INTERPRETER_EXIT),
	    T(POP_TOP),
	    T(LOAD) },
	  "2:0 +2 2:2 2:4 16:0 +16 16:2 2:6 2:8 ",
	  7,
	  0,
	  0,
	  9,
	  0 },
	{ "if another goes on without that end, no place is known",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), FRAMES(1, 1, 0), T(POP_TOP), T(RESUME), M(PY_START, 1, 0),
	    T(FOR_ITER), T(END_FOR), T(LOAD), T(RETURN_VALUE), T(LOAD) },
	  "2:0 +2 2:2 2:4 1:0 +1 1:2 1:16 1:18 1:20 -1 ",
	  8,
	  0,
	  0,
	  2,
	  0 },
	{ "one that is called again and again: a generator of it is left suspended, and an exception leaves it",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), T(RESUME), M(PY_START, 12, 0), T(LOAD), T(RETURN_GENERATOR),
	    T(CALL), T(POP_TOP), T(RESUME), M(PY_START, 14, 2), T(LOAD), T(YIELD_VALUE), M(RAISE, 12, 2),
	    M(PY_UNWIND, 12, 2), T(POP_TOP), T(LOAD) },
	  "2:0 +2 2:2 2:4 12:0 +12 12:2 12:4 14:2 14:4 +14 14:6 14:8 -14 -12 2:6 2:8 ",
	  12,
	  1,
	  0,
	  0,
	  0 },
	{ "nor whether what ran before it got another form",
	  { T(RESUME), M(PY_START, 2, 0), T(LOAD), T(CALL), { 0, SAMPLE_GAP, 0, 0, 0 }, T(POP_TOP) },
	  "2:0 +2 2:2 ",
	  2,
	  0,
	  1,
	  1,
	  0 },
	{ "what decides between two sides may get another form yet",
	  { T(RESUME),
	    M(PY_START, 9, 0),
	    T(POP_JUMP_IF_TRUE),
	    T(LOAD),
	    T(GET_ITER),
	    { 0, SAMPLE_GAP, 0, 0, 0 },
	    T(RETURN_VALUE) },
	  "9:0 +9 9:2 ",
	  2,
	  0,
	  2,
	  1,
	  0 },
	{ "it may be a generator's",
	  { T(RESUME), M(PY_START, 9, 0), T(POP_JUMP_IF_TRUE), T(LOAD), T(POP_TOP), T(RESUME), M(PY_START, 4, 2),
	    T(LOAD) },
	  "9:0 +9 9:2 4:2 4:4 +4 4:6 ",
	  5,
	  0,
	  1,
	  0,
	  0 },
	{ "where tracing begins, nothing is dispatched",
	  { T(RESUME), M(PY_START, 9, 0), T(POP_JUMP_IF_TRUE), ENTER(LOAD), T(LOAD), ENTER(POP_TOP), T(GET_ITER),
	    ENTER(LOAD), T(RETURN_VALUE) },
	  "9:0 +9 9:2 9:4 9:6 9:8 -9 ",
	  5,
	  0,
	  0,
	  0,
	  0 },
};

static char out[1024];

/* All is told in both ways: each dispatch by itself, or many at once. */
static bool gathers;
static struct gather gather;

static int gather_them(void **state)
{
	(void)state;
	gathers = true;
	return 0;
}

static int note(void *to, const struct sample *s)
{
	char *end = out + strlen(out);
	unsigned id = (s->code ? s->code->id : 0) + 10 * s->interpreter;
	size_t room = out + sizeof(out) - end;

	(void)to;
	if (s->op == OP_INSTRUCTION)
		snprintf(end, room, "%u:%d%s ", id, (int)s->offset, s->opcode >= 100 && s->opcode < 200 ? "*" : "");
	else if (sample_op_effect(s->op) == STACK_PUSH)
		snprintf(end, room, "+%u ", id);
	else if (sample_op_effect(s->op) == STACK_POP)
		snprintf(end, room, "-%u ", id);
	return 0;
}

static void feed(struct recover *r, struct codes *codes, const struct item *item, uint64_t time)
{
	struct sample s = { .op = item->op,
			    .pid = 7,
			    .tid = 7,
			    .time = time,
			    .offset = 2 * item->index,
			    .target = item->op == OP_BRANCH ? 2 * item->to : SAMPLE_NOWHERE };

	if (item->tip) {
		struct word w = { 7, 7, time, time, item->tip };

		if (gathers)
			assert_int_equal(gather_branch(&gather, r, &w, item->to ? item->to : ROW_BRANCH), 0);
		else
			assert_int_equal((item->to ? recover_enter : recover_branch)(r, &w), 0);
		return;
	}
	assert_int_equal(gather_end(&gather), 0);
	s.interpreter = item->code / 10;
	s.code = item->code % 10 ? codes_find(codes, codes_process(codes, 7), item->code % 10) : NULL;
	if (item->op == OP_FRAMES) {
		s.traced = item->index;
		s.open = item->to;
	}
	assert_int_equal(recover_sample(r, &s), 0);
}

static void make_codes(struct codes *codes)
{
	struct process *p;

	assert_int_equal(codes_init(codes, NULL), 0);
	p = codes_process(codes, 7);
	p->dispatch = make_dispatch();
	for (unsigned id = 1; id < sizeof(bodies) / sizeof(bodies[0]); id++)
		fill_code(&p->pool, codes_find_or_make(codes, p, id), bodies[id]);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct recover_counts *c;
		struct codes codes;
		struct recover r;

		*out = '\0';
		make_codes(&codes);
		recover_init(&r, &codes, note, NULL);
		for (unsigned k = 0; cases[i].items[k].tip || cases[i].items[k].op; k++)
			feed(&r, &codes, &cases[i].items[k], k);
		assert_int_equal(gather_end(&gather), 0);
		assert_int_equal(recover_finish(&r), 0);
		c = &r.counts;
		if (strcmp(out, cases[i].out))
			fail_msg("%s: got %s, not %s", cases[i].name, out, cases[i].out);
		if (c->placed != cases[i].placed || c->makers != cases[i].makers || c->unsure != cases[i].unsure ||
		    c->lost != cases[i].lost || c->mismatches != cases[i].mismatches)
			fail_msg("%s: placed %d makers %d unsure %d lost %d mismatches %d", cases[i].name,
				 (int)c->placed, (int)c->makers, (int)c->unsure, (int)c->lost, (int)c->mismatches);
		assert_int_equal(c->dispatched, c->placed + c->makers + c->unsure + c->lost);
		recover_free(&r);
		codes_free(&codes);
	}
}

/* Code 3 is left out: needed for the way through, not told. */
/* Two of a family in a row, and what would tell of a second dispatch may have left no packet: neither is told. */
static void test_compressed(void **state)
{
	static const struct item items[] = { T(RESUME), M(PY_START, 6, 0), T(GET_ITER), T(GET_ITER_VIRTUAL),
					     T(RETURN_VALUE) };
	struct codes codes;
	struct recover r;

	(void)state;
	*out = '\0';
	make_codes(&codes);
	recover_init(&r, &codes, note, NULL);
	r.compressed = true;
	for (unsigned k = 0; k < sizeof(items) / sizeof(items[0]); k++)
		feed(&r, &codes, &items[k], k);
	assert_int_equal(recover_finish(&r), 0);
	assert_string_equal(out, "6:0 +6 -6 ");
	assert_int_equal(r.counts.placed, 1);
	assert_int_equal(r.counts.unsure, 2);
	assert_int_equal(r.counts.lost, 1);
	assert_int_equal(r.counts.mismatches, 0);
	recover_free(&r);
	codes_free(&codes);
}

static void test_excluded(void **state)
{
	static const struct item items[] = {
		T(RESUME),	    M(PY_START, 2, 0),		T(LOAD),	  T(CALL_PY),	    T(COPY_FREE_VARS),
		T(RESUME),	    M(PY_START, 3, 1),		T(LOAD),	  T(RAISE_VARARGS), M(RAISE, 3, 3),
		M(PY_UNWIND, 3, 3), M(EXCEPTION_HANDLED, 2, 6), T(PUSH_EXC_INFO), T(POP_TOP),	    T(RETURN_VALUE),
	};
	struct codes codes;
	struct recover r;

	(void)state;
	*out = '\0';
	make_codes(&codes);
	codes_find(&codes, codes_process(&codes, 7), 3)->excluded = true;
	recover_init(&r, &codes, note, NULL);
	for (unsigned k = 0; k < sizeof(items) / sizeof(items[0]); k++)
		feed(&r, &codes, &items[k], k);
	assert_int_equal(gather_end(&gather), 0);
	assert_int_equal(recover_finish(&r), 0);
	assert_string_equal(out, "2:0 +2 2:2 2:4* 2:12 2:14 2:16 -2 ");
	assert_int_equal(r.counts.placed, 6);
	assert_int_equal(r.counts.dispatched, 6);
	recover_free(&r);
	codes_free(&codes);
}

/* Any dispatches and markers at all: nothing is told twice, and no place is outside the code. */
struct noise {
	uint64_t told, sum;
	struct recover_counts counts;
};

static int check(void *noise, const struct sample *s)
{
	struct noise *n = noise;

	gather_sum(&n->sum, s);
	if (s->op != OP_INSTRUCTION)
		return 0;
	assert_true(s->offset >= 0 && s->offset / 2 < s->code->ninstrs);
	n->told++;
	return 0;
}

/* Most dispatches follow the code, so that places are known for a while; others and markers come in between. */
static struct item any_item(struct item *at)
{
	static const uint8_t ops[] = { RESUME,
				       LOAD,
				       STORE,
				       POP_TOP,
				       CALL,
				       FOR_ITER,
				       RETURN_VALUE,
				       YIELD_VALUE,
				       LOAD_FAST_PAIR,
				       COPY_FREE_VARS,
				       RETURN_GENERATOR,
				       EXIT_INIT_CHECK,
				       JUMP_BACKWARD,
				       GET_ITER,
				       GET_ITER_VIRTUAL };
	static const uint8_t markers[] = { OP_PY_START, OP_PY_START,  OP_PY_START, OP_PY_RESUME,
					   OP_PY_THROW, OP_PY_UNWIND, OP_RAISE,	   OP_EXCEPTION_HANDLED,
					   OP_BRANCH,	OP_FRAMES,    SAMPLE_GAP };
	const struct code_row *row = &bodies[at->code][at->index];
	unsigned dice = random() % 256;

	if (dice < 240 && row->op != CACHE) {
		at->index = row->to && random() % 2 ? row->to : at->index + 1;
		return (struct item)T(row->op);
	}
	if (dice % 4 == 0)
		return (struct item)T(ops[random() % sizeof(ops)]);
	if (dice % 8 == 1)
		return (struct item){ dice % 16 == 1 ? AGAIN : 0x7777, 0, 0, 0, 0 };
	if (dice % 8 == 5)
		return (struct item)ENTER(ops[random() % sizeof(ops)]);
	at->op = markers[random() % sizeof(markers)];
	at->code = 1 + random() % 9;
	at->index = at->op == OP_PY_START ? 0 : random() % 4;
	at->to = random() % 12;
	if (at->op == OP_FRAMES)
		return (struct item)FRAMES(random() % 3, random() % 4, random() % 2);
	if (at->op == SAMPLE_GAP)
		return (struct item){ 0, at->op, 0, at->index++, at->to };
	return (struct item){ 0, at->op, at->code + 10 * (random() % 3), at->index++, at->to };
}

/* Where cycles are ticks those of the packets are wrong ones here, and nobody must ask for them. */
static struct noise noise_of(struct codes *codes, unsigned seed, bool many)
{
	struct ticks ticks = { 0 };
	struct noise n = { 0 };
	struct item at = { .code = 1 };
	struct recover r;

	gathers = many;
	srandom(seed);
	recover_init(&r, codes, check, &n);
	r.compressed = seed % 2;
	r.ticks = seed == 2 ? &ticks : NULL;
	gather.rows.thread = r.ticks ? 1 : 0;
	for (uint64_t i = 0; i < 150000; i++) {
		struct item item = any_item(&at);

		feed(&r, codes, &item, i);
	}
	assert_int_equal(gather_end(&gather), 0);
	gather.rows.thread = 0;
	assert_int_equal(recover_finish(&r), 0);
	assert_int_equal(n.told, r.counts.placed);
	assert_int_equal(r.counts.dispatched, r.counts.placed + r.counts.makers + r.counts.unsure + r.counts.lost);
	n.counts = r.counts;
	recover_free(&r);
	return n;
}

/* And the same is told whether each is told by itself or many are at once. In the second, a code is left out. */
static void test_noise(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 2; seed++) {
		struct noise one, many;
		struct codes codes;

		make_codes(&codes);
		codes_find(&codes, codes_process(&codes, 7), 5)->excluded = seed == 2;
		one = noise_of(&codes, seed, false);
		many = noise_of(&codes, seed, true);
		assert_true(one.told > 20000);
		assert_memory_equal(&one, &many, sizeof(one));
		codes_free(&codes);
	}
}

/* Rows of words are left to who decodes them, whatever a word looks like; what comes behind one is not looked at. */
static void test_words(void **state)
{
	static const struct item begin[] = { T(RESUME), M(PY_START, 9, 0), T(POP_JUMP_IF_TRUE), T(LOAD) };
	struct codes codes;
	struct recover r;
	struct word w = { 7, 7, 9, 9, 0 };
	const struct row *from = gather.rows.at;

	(void)state;
	*out = '\0';
	gathers = true;
	make_codes(&codes);
	recover_init(&r, &codes, note, NULL);
	for (unsigned k = 0; k < sizeof(begin) / sizeof(begin[0]); k++)
		feed(&r, &codes, &begin[k], k);
	w.bits = HANDLER(GET_ITER);
	gather_branch(&gather, &r, &w, ROW_BRANCH);
	w.bits = HANDLER(RETURN_VALUE);
	gather_branch(&gather, &r, &w, ROW_WORD);
	w.bits = HANDLER(RETURN_VALUE);
	gather_branch(&gather, &r, &w, ROW_BRANCH);
	assert_int_equal(recover_rows(gather.thread, &gather.rows, &from), 0);
	assert_int_equal(from - gather.rows.at, gather.rows.n - 2);
	assert_string_equal(out, "9:0 +9 9:2 ");
	gather.rows.n = 0;
	assert_int_equal(recover_finish(&r), 0);
	recover_free(&r);
	codes_free(&codes);
}

/* Frames whose end is not seen are not kept: a thread that no marker ever begins takes no memory. */
static void test_unbegun(void **state)
{
	static const struct item call[] = { T(RESUME), T(LOAD), T(CALL) };
	struct codes codes;
	struct recover r;

	(void)state;
	make_codes(&codes);
	recover_init(&r, &codes, note, NULL);
	for (unsigned k = 0; k < 300; k++)
		feed(&r, &codes, &call[k % 3], k);
	assert_int_equal(gather_end(&gather), 0);
	assert_int_equal(recover_thread_at(&r, 7, 7)->frames.n, 0);
	assert_int_equal(recover_finish(&r), 0);
	assert_int_equal(r.counts.dispatched, 0);
	recover_free(&r);
	codes_free(&codes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_excluded),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_unbegun),
		cmocka_unit_test_setup(test_cases, gather_them),
		cmocka_unit_test_setup(test_excluded, gather_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
