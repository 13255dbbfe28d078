/* SPDX-License-Identifier: MIT */
/*
 * codes.h - ids of code objects.
 *
 * An id lives in the code object itself, in its co_extra slot of this interpreter (PEP 523): two loads find it, and
 * CPython reports when the code object dies, so that a new one at the same address is not mistaken for it. The stored
 * value:
 *
 *   0                      not seen yet
 *   >= CODE_READY          the id where a marker word wants it: emit
 *   id | CODE_FILTERED     left out
 *   id                     needs WIDE words (more than 2^20 lines or code units): the slow path's
 *   id | CODE_TRIGGER      traced, and a trigger names it (trigger.h): the slow path's
 *   id | CODE_HOOK         its events say more (hooks.h): likewise; may come with CODE_TRIGGER or CODE_FILTERED
 *   CODE_NO_ID             all ids are used up: its markers are counted as lost
 */
#pragma once

#include <Python.h>
#include <stdint.h>

#include "lane.h"
#include "names.h"
#include "shared/marker.h"
#include "told.h"

#define CODE_READY    (1ull << MARKER_CODE_SHIFT)
#define CODE_FILTERED (1ull << 24)
#define CODE_NO_ID    (1ull << 25)
#define CODE_TRIGGER  (1ull << 26)
#define CODE_HOOK     (1ull << 27)
#define CODE_C_LAST   ((uint64_t)MARKER_C_CODE_MAX << MARKER_CODE_SHIFT) /* up to here it fits into a C_CALL */
#define CODE_SCRATCH  MARKER_SCRATCH /* calibration: emits, but belongs to no code object */

struct hook;

/* What is asked of tasks and of what runs them, W(name, text) (tasks.c). */
#define TASK_ATTRIBUTES(W) \
	W(CALLBACK, "_callback") \
	W(SELF, "__self__") \
	W(GET_CORO, "get_coro") \
	W(DONE, "done") \
	W(CORO, "coro") \
	W(GET_NAME, "get_name") \
	W(NAME, "name") \
	W(FUTURE, "future") \
	W(JOB, "_job") \
	W(SPAN_NAME, "_name") \
	W(PARENT, "_parent") \
	W(SPAN_CONTEXT, "_context") \
	W(IS_REMOTE, "is_remote") \
	W(UVLOOP, "uvloop.loop") \
	W(LOOP, "Loop") \
	W(SPEC, "__spec__") \
	W(LOADING, "_initializing") \
	W(CONTEXT, "context") \
	W(WHEN, "_when") \
	W(GET_LOOP, "get_loop")

enum task_word {
#define W(name, text) WORD_##name,
	TASK_ATTRIBUTES(W)
#undef W
		TASK_WORDS
};

/* An interpreter's slot. */
struct codes {
	uint64_t interpreter;
	Py_ssize_t index;  /* for the API */
	Py_ssize_t direct; /* the same for codes_peek(), or beyond every size: do not peek */
	enum lane_view view;
	_Atomic uint32_t window; /* of a duty cycle, or LANE_ALWAYS, LANE_SHUT (lane.h) */
	/* How often tracing has ended: a callback that has called Python looks at it afterwards. */
	_Atomic uint32_t session;
	struct names imports;	     /* imports.h */
	struct told_map tasks;	     /* those that are told (tasks.h) */
	struct told_map contexts;    /* and what begins where one is entered (contexts.h) */
	struct names names;	     /* of tasks and requests */
	PyObject *words[TASK_WORDS]; /* interned (tasks.h) */
	bool identified;	     /* callbacks tell which coroutine is resumed (identity.h): so tasks can be told */
	_Atomic bool loop_seen;	     /* there is one of C code: its functions are replaced, if they can be (uvloop.h) */
	_Atomic bool listening;	     /* events are on: from core's listen() to unlisten() */
	struct greenlets *greenlets; /* the module's */
};

/* CPython's private storage behind co_extra; codes_open() checks it against the API. */
struct code_extra {
	Py_ssize_t size;
	uint64_t values[];
};

/* Without a GIL other threads may be storing what is loaded. On x86-64 both are the same instruction. */
#ifdef Py_GIL_DISABLED
#define CODES_LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#else
#define CODES_LOAD(place) (place)
#endif

static inline struct code_extra *codes_extra(PyObject *code)
{
	return CODES_LOAD(((PyCodeObject *)code)->co_extra);
}

/* The stored value, or 0 if it cannot be read directly. */
static inline uint64_t codes_peek(PyObject *code, Py_ssize_t direct)
{
	struct code_extra *e = codes_extra(code);

	return e && e->size > direct ? CODES_LOAD(e->values[direct]) : 0;
}

/* codes_peek(code, 0) of a slot that is the interpreter's first: any array has room for that one. */
static inline uint64_t codes_peek_first(PyObject *code)
{
	struct code_extra *e = codes_extra(code);

	return e ? CODES_LOAD(e->values[0]) : 0;
}

/* Ask for this interpreter's slot, once. -1 with an exception set. */
int codes_open(struct codes *c);

/*
 * The stored value; a code object seen for the first time gets one and is written to the table, by one thread. Calls
 * Python. 0: since `session` tracing has ended.
 */
uint64_t codes_value(struct codes *c, PyObject *code, uint32_t session);

/* The same for code that does not run yet, but will, with these globals. */
uint64_t codes_value_in(struct codes *c, PyObject *code, PyObject *globals, uint32_t session);

/* The same for code that Ocular made: it belongs to no module, whatever runs now, and no filter applies. */
uint64_t codes_value_ours(struct codes *c, PyObject *code, uint32_t session);

/* Must the branch at this code unit be reported? By its code object's value, a ready one. */
bool codes_is_ambiguous(uint64_t value, uint32_t unit);

/* The triggers of a value with CODE_TRIGGER. */
uint64_t codes_triggers(uint64_t value);

/* From here on code that has no hook has this one. If it is left out, its events may be disabled where it has run. */
void codes_follow(struct codes *c, PyObject *code, const struct hook *hook);

/* The hook of a value with CODE_HOOK. */
const struct hook *codes_hook(uint64_t value);

/* The calling thread's lane (lane_open), for words outside the hot path. NULL, too: `session` is over. */
static inline struct lane *codes_lane(struct codes *c, uint32_t session, unsigned int words)
{
	return c->session == session ? lane_open(c->interpreter, c->view, c->window, words) : NULL;
}

/*
 * If the JIT is on, write that, and what it has compiled of live code objects. While events are on: CPython discards it
 * when they go off.
 */
void codes_write_compiled(const struct codes *c);

/*
 * A session begins, or ends: when this returns, no callback of another thread writes a word any more, and those in the
 * middle of their slow path will not.
 */
void codes_begin(struct codes *c);
void codes_end(struct codes *c);

/* Write how all live code objects were specialized, and forget them. */
void codes_close(struct codes *c);

/* No interpreter traces any more: free what leads back from ids. */
void codes_free(void);

/* Set the value of one code object, for calibration. -1 with an exception set. */
int codes_set(struct codes *c, PyObject *code, uint64_t value);
