/* SPDX-License-Identifier: MIT */
/*
 * emit_path.h - from event to marker word: the hot path, the same for each way out of the process.
 *
 * The budget is 3 ns over a callback that does nothing. So: no API call, no allocation, no
 * reference count (None is immortal), and one unlikely branch for everything that is not plain
 * appending. What appending is, the emitter says: emit_ring.c, emit_ptwrite.c and emit_emulated.c are
 * this file with a `put` each.
 */
#ifndef OCULAR_EMIT_PATH_H
#define OCULAR_EMIT_PATH_H

#include "emit.h"
#include "lane.h"

#define unlikely(x) __builtin_expect(!!(x), 0)
#define EMIT_SHAPES 4
#define DIST_MAX    (2u * MARKER_DIST_MAX) /* in bytes */

struct callback {
	PyObject base;
	vectorcallfunc call;
	vectorcallfunc dest;  /* of EMIT_DEST */
	uint64_t head;	      /* the word's constant part */
	uint64_t interpreter; /* of codes */
	Py_ssize_t direct;    /* of codes */
	PyObject *disable;
	struct codes *codes;
	enum emit_shape shape;
};

/* The callables of one backend. */
typedef const vectorcallfunc emitters[LANE_VIEWS][EMIT_SHAPES];
extern emitters emitters_software, emitters_ptwrite, emitters_emulated;

/* Of emitters_software, in a file of their own: emit_ring.c. */
PyObject *emit_offset(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);
PyObject *emit_dest(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);
PyObject *emit_backward(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/*
 * In its place for INSTRUCTION on 3.12, where each conditional branch that was ever taken is dear: 4.1 ns over the
 * empty callback with branches, 2.8 without. CALL takes 0.4 more without, INSTRUCTION on 3.13 0.5 (AMD EPYC;
 * docs/benchmarks.md).
 */
#if PY_VERSION_HEX < 0x030d0000
#define EMIT_INSTRUCTION 1
PyObject *emit_instruction(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);
#endif

typedef void (*put_fn)(const struct cursor *, uint64_t head, uint64_t word);

/* All that is rare: first events of code and of threads, full rings, far jumps, long code. */
PyObject *emit_slowly(struct callback *cb, PyObject *const *args) __attribute__((cold));

/*
 * `plain` is the case of nearly every program: the interpreter that traced first in the process,
 * and the first slot of co_extra. It has neither a slot number nor an interpreter to compare.
 */
static inline __attribute__((always_inline)) PyObject *emit(struct callback *cb, PyObject *const *args, uint64_t place,
							    bool far, bool plain, put_fn put)
{
	uint64_t value = plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct);
	const struct cursor *c = &lane_cursor[plain ? LANE_FIRST : LANE_OTHERS];
	uint64_t head = cursor_head(c);
	PyObject *none = Py_None;

	if (unlikely(value < CODE_READY || head >= c->limit || far || (!plain && c->interpreter != cb->interpreter)))
		return emit_slowly(cb, args);
	__asm__ volatile("" : "+r"(none)); /* loaded now, not behind RDTSC (lane_put) */
	put(c, head, cb->head | value | place);
	return none;
}

/*
 * The number if it is not negative and has one digit of 30 bits. Offsets are; code with larger
 * lines has no ready id (codes.h), so that they are read again, exactly.
 */
static inline uint32_t number(PyObject *n)
{
	return ((PyLongObject *)n)->long_value.ob_digit[0];
}

/* Where it was, in the bits of the word. Offsets are bytes and even: half of them are code units. */
static inline __attribute__((always_inline)) PyObject *emit_shape(struct callback *cb, PyObject *const *args,
								  enum emit_shape shape, bool plain, put_fn put)
{
	uint32_t first = number(args[1]), dist;
	uint64_t place = (uint64_t)first << (MARKER_OFFSET_SHIFT - 1);

	switch (shape) {
	case EMIT_LINE:
		return emit(cb, args, (uint64_t)first << MARKER_OFFSET_SHIFT, false, plain, put);
	case EMIT_OFFSET:
		return emit(cb, args, place, false, plain, put);
	case EMIT_DEST:
		dist = number(args[2]) - first;
		place |= (uint8_t)(dist / 2);
		return emit(cb, args, place, dist + DIST_MAX > 2 * DIST_MAX, plain, put);
	case EMIT_BACKWARD:
		/* Forward is as far as can be: one comparison for both. */
		dist = number(args[2]) - first;
		place |= (uint8_t)(dist / 2);
		return emit(cb, args, place, dist + DIST_MAX > DIST_MAX, plain, put);
	case EMIT_DOUBTFUL: /* has a callable of its own */
		break;
	}
	__builtin_unreachable();
}

/* As few cache lines of code as can be. */
#define EMITTER(name, shape, plain, put) \
	static PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) \
	{ \
		return emit_shape((struct callback *)self, args, shape, plain, put); \
	}

/* The callables of a backend, `table`, whose words go out by `put`; these three are there already. */
#define EMITTERS(table, plain_offset, plain_dest, plain_backward, put) \
	EMITTER(plain_line, EMIT_LINE, true, put) \
	EMITTER(any_offset, EMIT_OFFSET, false, put) \
	EMITTER(any_line, EMIT_LINE, false, put) \
	EMITTER(any_dest, EMIT_DEST, false, put) \
	EMITTER(any_backward, EMIT_BACKWARD, false, put) \
	emitters table = { \
		[LANE_FIRST] = { plain_offset, plain_line, plain_dest, plain_backward }, \
		[LANE_OTHERS] = { any_offset, any_line, any_dest, any_backward }, \
	}

#endif
