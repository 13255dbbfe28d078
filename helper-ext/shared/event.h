/* SPDX-License-Identifier: MIT */
/*
 * event.h - the table of everything a marker can mean.
 *
 * A row: X(op, name, stack, far)
 *   op     the 5-bit number in the marker word; the same in all versions of it
 *   name   the name in sys.monitoring.events (PEP 669); the event's *number* there differs between
 *          CPython versions, so it is read by name when recording starts
 *   stack  what the event does to the Python stack of its thread
 *   far    how the marker's argument is used: FAR_DEST = signed distance to the destination
 *
 * 3.12 and 3.13 have BRANCH; 3.14 has BRANCH_LEFT and BRANCH_RIGHT beside it. An interpreter that
 * lacks a name simply never emits that op.
 */
#pragma once

/* clang-format off */
#define OCULAR_EVENTS(X) \
	X( 4, PY_START,          STACK_PUSH,   FAR_NONE) \
	X( 5, PY_RESUME,         STACK_PUSH,   FAR_NONE) \
	X( 6, PY_RETURN,         STACK_POP,    FAR_NONE) \
	X( 7, PY_YIELD,          STACK_POP,    FAR_NONE) \
	X( 8, PY_UNWIND,         STACK_POP,    FAR_NONE) \
	X( 9, PY_THROW,          STACK_PUSH,   FAR_NONE) \
	X(10, CALL,              STACK_KEEP,   FAR_NONE) \
	X(11, C_RETURN,          STACK_KEEP,   FAR_NONE) \
	X(12, C_RAISE,           STACK_KEEP,   FAR_NONE) \
	X(13, LINE,              STACK_KEEP,   FAR_NONE) \
	X(14, INSTRUCTION,       STACK_KEEP,   FAR_NONE) \
	X(15, JUMP,              STACK_KEEP,   FAR_DEST) \
	X(16, BRANCH,            STACK_KEEP,   FAR_DEST) \
	X(17, BRANCH_LEFT,       STACK_KEEP,   FAR_DEST) \
	X(18, BRANCH_RIGHT,      STACK_KEEP,   FAR_DEST) \
	X(19, STOP_ITERATION,    STACK_KEEP,   FAR_NONE) \
	X(20, RAISE,             STACK_KEEP,   FAR_NONE) \
	X(21, RERAISE,           STACK_KEEP,   FAR_NONE) \
	X(22, EXCEPTION_HANDLED, STACK_KEEP,   FAR_NONE)

/*
 * Kinds of EXTENSION words: X(kind, name), 1 to 14. docs/marker.md defines their payloads. So far WAIT and CPU_TIME
 * are written, CPU and NATIVE by the recorder. 15 is reserved: a later version may continue the kind in the payload.
 */
#define OCULAR_KINDS(X) \
	X(1, NUMBER)     /* gives the next event word a number, for NUMBERED words */ \
	X(2, OBJECT)     /* which generator, coroutine or asynchronous generator is resumed or yields from here on */ \
	X(3, CALLEE)     /* the next CALL is one of this, which is not written in Python */ \
	X(4, WAIT)       /* a wait begins or ends */ \
	X(5, CPU)        /* the thread is switched in or out: marker_cpu() */ \
	X(6, COLLECTION) /* a garbage collection begins or ends */ \
	X(7, LABEL)      /* a span, instant or counter of the program's own */ \
	X(8, CPU_TIME)   /* how much CPU time the thread has used so far */ \
	X(9, C_CALL)     /* a CALL and its CALLEE in one word, if they fit: marker_c_call() */ \
	X(10, IMPORT)    /* the activation that has just begun is the import of this */ \
	X(11, EXCEPTION) /* which one the next RAISE or RERAISE is about */ \
	X(12, VALUE)     /* of the next LABEL: the rest of a counter's number, or data */ \
	X(13, SUBJECT)   /* for whom the thread works: tasks, jobs, requests, greenlets */ \
	X(14, NATIVE)    /* a sample: the C functions that the thread is in, by number */

/* clang-format on */

/* What a thread waits for, in KIND_WAIT words: W(number, name), 1 to 127. */
#define OCULAR_WAITS(W) \
	W(1, GIL, "gil") \
	W(2, LOCK, "lock") \
	W(3, POLL, "poll") \
	W(4, READ, "read") \
	W(5, WRITE, "write") \
	W(6, CONNECT, "connect") \
	W(7, ACCEPT, "accept") \
	W(8, SLEEP, "sleep") \
	W(9, PROCESS, "process") \
	W(10, RING, "ring") /* room in its ring, for markers */ \
	W(11, OTHER, "other")

/* What a SUBJECT word says, S(number, name), 1 to 31. docs/marker.md says of whom. */
#define OCULAR_SUBJECTS(S) \
	S(1, NAME) \
	S(2, TASK_MADE) \
	S(3, TASK_OLDER) \
	S(4, TASK_BEGUN) \
	S(5, TASK_WOKEN) \
	S(6, JOB_MADE) \
	S(7, JOB_BEGUN) \
	S(8, JOB_DROPPED) \
	S(9, REQUEST_BEGUN) \
	S(10, REQUEST_ENDED) \
	S(11, GREENLET) \
	S(12, GREENLET_ENDED) \
	S(13, TASK_UNSEEN) \
	S(14, JOB_UNSEEN) \
	S(15, TASK_STARTED) \
	S(16, DUE) \
	S(17, TASK_RUNS) \
	S(18, TASK_RESTS) \
	S(19, TASK_ENDS) \
	S(20, JOB_AWAITED) \
	S(21, JOB_DONE) \
	S(22, TRACED)

/* What a LABEL word is. */
enum label_what { LABEL_INSTANT, LABEL_BEGIN, LABEL_END, LABEL_COUNTER };

/* What a VALUE word is, unless it is a counter's (docs/marker.md). DATA is 0: earlier releases wrote nothing else. */
enum value_what {
	VALUE_DATA,	/* all of it, a `data` line by its id */
	VALUE_KEYS,	/* the keys of the values before it */
	VALUE_INT,	/* low bits */
	VALUE_FLOAT,	/* high bits */
	VALUE_REST,	/* the others, before it */
	VALUE_TEXT,	/* some bytes */
	VALUE_NAMED,	/* a text, by its id */
	VALUE_CONSTANT, /* one of enum value_constant */
	VALUE_LIST,	/* so many values, which come next */
	VALUE_MAP,	/* so many pairs of a text and a value, likewise */
};
enum value_constant { CONSTANT_NONE, CONSTANT_FALSE, CONSTANT_TRUE, CONSTANT_UNTOLD /* a text */ };

enum wait_kind {
#define W(number, name, text) WAIT_FOR_##name = number,
	OCULAR_WAITS(W)
#undef W
		WAIT_KINDS
};

enum subject {
#define S(number, name) SUBJECT_##name = number,
	OCULAR_SUBJECTS(S)
#undef S
};

enum marker_kind {
#define X(kind, name) KIND_##name = kind,
	OCULAR_KINDS(X)
#undef X
};

enum stack_effect { STACK_KEEP, STACK_PUSH, STACK_POP };
enum far_use { FAR_NONE, FAR_DEST };

enum marker_op {
	/* 0 is never a marker: a zero word is another program's. */
	OP_HELLO = 1, /* opens a thread, and names its interpreter whenever that changes */
	OP_LOST = 2,  /* the emitter dropped words here, and counted them */
	OP_WIDE = 3,  /* prefix: what does not fit into the next word */
#define X(op, name, stack, far) OP_##name = op,
	OCULAR_EVENTS(X)
#undef X
		OP_EVENT_FIRST = OP_PY_START,
	OP_EVENT_LAST = OP_EXCEPTION_HANDLED,
	OP_SNAPSHOT = 23,    /* a flight recorder's segment of this thread begins, or ends */
	OP_FRAMES = 28,	     /* mode opcodes: frames that another interpreter has open, or its end */
	OP_EXTENSION = 29,   /* since version 2: anything else, by kind */
	OP_NUMBERED = 30,    /* since version 2: stands for the event word with this number */
	OP_RING_THREAD = 31, /* inside a ring only (ring.h); never leaves the recorder */
	OP_SCRATCH = 31,     /* in a processor's trace only: calibration, never counted (marker.h) */
	OP_COUNT = 32,
};
