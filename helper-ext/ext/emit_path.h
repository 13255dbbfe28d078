/* SPDX-License-Identifier: MIT */
/*
 * emit_path.h - from event to marker word: the hot path, the same for each way out of the process.
 *
 * The budget is 3 ns over a callback that does nothing. So: no API call, no allocation, no reference count (None is
 * immortal), and one unlikely branch for everything but plain appending. The emitter defines appending: arch/,
 * emit_coarse.c, emit_ptwrite.c and emit_emulated.c are this file with a `put` each.
 */
#ifndef OCULAR_EMIT_PATH_H
#define OCULAR_EMIT_PATH_H

#include "callback.h"
#include "callee.h"
#include "identity.h"
#include "lane.h"
#include "running.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define DIST_MAX    (2u * MARKER_DIST_MAX) /* in bytes */

/* The callables of one backend; of rings with a coarse clock there are others. */
typedef const vectorcallfunc emitters[LANE_VIEWS][EMIT_SHAPES];
extern emitters emitters_software, emitters_coarse, emitters_ptwrite, emitters_emulated;

/*
 * They return `none`, the callable's result: so what they do seldom can be a jump, too, and a callable that calls
 * nothing need not save registers.
 */
typedef PyObject *(*put_fn)(const struct cursor *, uint64_t head, uint64_t word, PyObject *none);
typedef PyObject *(*put_pair_fn)(const struct cursor *, uint64_t head, uint64_t first, uint64_t second, PyObject *none);
typedef PyObject *(*slow_fn)(struct callback *, PyObject *const *args);

/*
 * `plain`: the interpreter that traced first in the process and the first slot of co_extra, as in nearly every program.
 * It need not compare slot number or interpreter.
 */
static inline __attribute__((always_inline)) PyObject *emit(struct callback *cb, PyObject *const *args, uint64_t place,
							    bool far, bool plain, put_fn put)
{
	uint64_t value = plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct);
	const struct cursor *c = &lane_cursor[plain ? LANE_FIRST : LANE_OTHERS];
	uint64_t head = cursor_head(c);
	PyObject *none = Py_None;

	if (unlikely(value < CODE_READY || head >= c->limit || far || (!plain && c->interpreter != cb->interpreter)))
		return callback_slow(cb, args);
	__asm__ volatile("" : "+r"(none)); /* loaded now, not behind RDTSC (lane_put) */
	return put(c, head, cb->head | value | place, none);
}

/* The event's offset, in the bits of the word. Offsets are bytes and even: half of them are code units. */
static inline uint64_t emit_offset_of(PyObject *const *args)
{
	return (uint64_t)callback_number(args[1]) << (MARKER_OFFSET_SHIFT - 1);
}

/* A CALL. What is called decides which word it becomes: a C function's has both codes and the offset, if they fit. */
static inline __attribute__((always_inline)) PyObject *emit_call(struct callback *cb, PyObject *const *args,
								 bool c_only, bool plain, put_fn put)
{
	uint64_t value = plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct), callee;
	const struct cursor *c = &lane_cursor[plain ? LANE_FIRST : LANE_OTHERS];
	uint64_t head = cursor_head(c);
	uint32_t offset = callback_number(args[1]);
	PyObject *none = Py_None;

	callee = callees_peek(args[2], args[0], offset);
	if (callee == CALLEE_PYTHON) {
		if (c_only && value >= CODE_READY)
			return none;
		return emit(cb, args, (uint64_t)offset << (MARKER_OFFSET_SHIFT - 1), false, plain, put);
	}
	if (unlikely(value - CODE_READY > CODE_C_LAST - CODE_READY ||
		     callee - CALLEE_READY > CALLEE_LAST - CALLEE_READY || offset > 2 * MARKER_C_OFFSET_MAX ||
		     head >= c->limit || (!plain && c->interpreter != cb->interpreter))) {
		if (value == CODE_SCRATCH)
			return emit(cb, args, 0, false, plain, put);
		return callback_slow(cb, args);
	}
	__asm__ volatile("" : "+r"(none));
	return put(c, head,
		   marker_c_call(0, 0, 0, 0) | callee | value >> (MARKER_CODE_SHIFT - MARKER_CALLER_SHIFT) | offset / 2,
		   none);
}

/*
 * A PY_RESUME or PY_YIELD, after the word that says of which generator or coroutine, unless that is the same as before.
 * callback_slow() forgets which it was, so what a reader has missed is told again. `rarely` has all uncommon cases, by
 * a jump: a function that calls nothing need not save registers.
 */
static inline __attribute__((always_inline)) PyObject *emit_object(struct callback *cb, PyObject *const *args,
								   const PyThreadState *running, bool plain, put_fn put,
								   put_pair_fn put_pair, slow_fn rarely)
{
	const uintptr_t *frame = identity_frame_of(running);
	struct cursor *c = &lane_cursor[plain ? LANE_FIRST : LANE_OTHERS];
	PyObject *none = Py_None;
	uint64_t value, head, word;

	if (unlikely(!callback_is_code(cb, args[0])))
		return rarely(cb, args);
	value = plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct);
	head = cursor_head(c);
	if (unlikely(value < CODE_READY || head + sizeof(struct ring_record) >= c->limit ||
		     (!plain && c->interpreter != cb->interpreter) || !identity_is_of(frame, args[0])))
		return rarely(cb, args);
	word = cb->head | value | emit_offset_of(args);
	__asm__ volatile("" : "+r"(none));
	if ((uintptr_t)frame != c->told && value != CODE_SCRATCH) {
		c->told = (uintptr_t)frame;
		return put_pair(c, head, marker_extension(0, KIND_OBJECT, identity_at(frame)), word, none);
	}
	return put(c, head, word, none);
}

/*
 * The same where the thread state must be asked for: at a thread's first such event, or at each. And for calibration,
 * whose memory ends with a single word.
 */
static inline __attribute__((always_inline)) PyObject *emit_object_rarely(struct callback *cb, PyObject *const *args,
									  bool plain, put_fn put, put_pair_fn put_pair)
{
	if (callback_is_code(cb, args[0]) &&
	    (plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct)) == CODE_SCRATCH)
		return emit(cb, args, emit_offset_of(args), false, plain, put);
	return emit_object(cb, args, running_meet(), plain, put, put_pair, callback_slow);
}

/* The place, in the bits of the word. */
static inline __attribute__((always_inline)) PyObject *emit_shape(struct callback *cb, PyObject *const *args,
								  enum emit_shape shape, bool plain, put_fn put)
{
	uint32_t first = callback_number(args[1]), dist;
	uint64_t place = emit_offset_of(args);

	if (unlikely(!callback_is_code(cb, args[0])))
		return callback_slow(cb, args);
	switch (shape) {
	case EMIT_LINE:
		return emit(cb, args, (uint64_t)first << MARKER_OFFSET_SHIFT, false, plain, put);
	case EMIT_OFFSET:
	case EMIT_INSTRUCTION:
		return emit(cb, args, place, false, plain, put);
	case EMIT_UNSURE:
		return emit(cb, args, place, !callback_is_inside(args[0], args[1]), plain, put);
	case EMIT_DEST:
		dist = callback_number(args[2]) - first;
		place |= (uint8_t)(dist / 2);
		return emit(cb, args, place, dist + DIST_MAX > 2 * DIST_MAX, plain, put);
	case EMIT_BACKWARD:
		/* A forward jump counts as too far: one comparison for both. */
		dist = callback_number(args[2]) - first;
		place |= (uint8_t)(dist / 2);
		return emit(cb, args, place, dist + DIST_MAX > DIST_MAX, plain, put);
	case EMIT_CALL:
	case EMIT_C_CALL:
		return emit_call(cb, args, shape == EMIT_C_CALL, plain, put);
	case EMIT_OBJECT:
	case EMIT_AMBIGUOUS: /* these have callables of their own (EMIT_SHAPES) */
	case EMIT_RAISE:
		break;
	}
	__builtin_unreachable();
}

/* put##_none and put##_none_pair, of a `put` of lane.h. */
#define PUTS(put) \
	static inline PyObject *put##_none(const struct cursor *c, uint64_t head, uint64_t word, PyObject *none) \
	{ \
		put(c, head, word); \
		return none; \
	} \
	static inline PyObject *put##_none_pair(const struct cursor *c, uint64_t head, uint64_t first, \
						uint64_t second, PyObject *none) \
	{ \
		put##_pair(c, head, first, second); \
		return none; \
	}

/* As few cache lines of code as possible. */
#define EMITTER(name, shape, plain, put) \
	static PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) \
	{ \
		return emit_shape((struct callback *)self, args, shape, plain, put); \
	}

#define OBJECT_EMITTER(name, plain, put, put_pair) \
	static __attribute__((noinline)) PyObject *name##_rarely(struct callback *cb, PyObject *const *args) \
	{ \
		return emit_object_rarely(cb, args, plain, put, put_pair); \
	} \
	static PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) \
	{ \
		PyThreadState *const *running = running_word; \
\
		if (unlikely(!running)) \
			return name##_rarely((struct callback *)self, args); \
		return emit_object((struct callback *)self, args, *running, plain, put, put_pair, name##_rarely); \
	}

/* The callables of a backend, `table`, whose words are written by `put`; these four already exist. */
#define EMITTERS(table, plain_offset, plain_dest, plain_backward, plain_instruction, put) \
	EMITTER(plain_line, EMIT_LINE, true, put) \
	EMITTER(plain_unsure, EMIT_UNSURE, true, put) \
	EMITTER(any_offset, EMIT_OFFSET, false, put) \
	EMITTER(any_line, EMIT_LINE, false, put) \
	EMITTER(any_dest, EMIT_DEST, false, put) \
	EMITTER(any_backward, EMIT_BACKWARD, false, put) \
	EMITTER(any_unsure, EMIT_UNSURE, false, put) \
	EMITTER(plain_call, EMIT_CALL, true, put) \
	EMITTER(plain_c_call, EMIT_C_CALL, true, put) \
	EMITTER(any_call, EMIT_CALL, false, put) \
	EMITTER(any_c_call, EMIT_C_CALL, false, put) \
	OBJECT_EMITTER(plain_object, true, put, put##_pair) \
	OBJECT_EMITTER(any_object, false, put, put##_pair) \
	emitters table = { \
		[LANE_FIRST] = { plain_offset, plain_line, plain_dest, plain_backward, plain_unsure, \
				 plain_instruction, plain_call, plain_c_call, plain_object }, \
		[LANE_OTHERS] = { any_offset, any_line, any_dest, any_backward, any_unsure, any_offset, any_call, \
				  any_c_call, any_object }, \
	}

#endif
