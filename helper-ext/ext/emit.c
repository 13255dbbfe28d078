/* SPDX-License-Identifier: MIT */
/*
 * emit.c - from event to marker word: the hot path.
 *
 * The budget is 3 ns over a callback that does nothing. So: no API call, no allocation, no
 * reference count (None is immortal), one store of {tsc, word}, one release store, and one unlikely
 * branch for everything that is not plain appending.
 */
#include <stddef.h>
#include <structmember.h>

#include "emit.h"
#include "lane.h"
#include "threads.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

struct callback {
	PyObject base;
	vectorcallfunc call;
	uint64_t head;	      /* the word's constant part */
	uint64_t interpreter; /* of codes */
	Py_ssize_t direct;    /* of codes */
	PyObject *disable;
	struct codes *codes;
	enum emit_shape shape;
};

/* A place in a code object: code units (or a line), and how far from there a jump goes. */
struct place {
	uint32_t offset;
	int32_t dist;
};

static inline uint64_t place_bits(struct place at)
{
	return (uint64_t)at.offset << MARKER_OFFSET_SHIFT | (uint8_t)at.dist;
}

static inline bool place_is_far(struct place at)
{
	return (uint32_t)(at.dist + MARKER_DIST_MAX) > 2 * MARKER_DIST_MAX;
}

static uint64_t place_wide(struct place at)
{
	return marker_wide(0, at.offset, at.dist ? at.offset + (uint32_t)at.dist : 0);
}

/* The place as the hot path reads it, but of numbers of any size: lines go up to 2^31. */
static struct place place_exactly(enum emit_shape shape, PyObject *const *args)
{
	uint32_t at = (uint32_t)PyLong_AsLong(args[1]);

	if (shape == EMIT_LINE)
		return (struct place){ at, 0 };
	if (shape == EMIT_OFFSET)
		return (struct place){ at / 2, 0 };
	return (struct place){ at / 2, (int32_t)((uint32_t)PyLong_AsLong(args[2]) / 2 - at / 2) };
}

static void put_event(struct lane *l, struct callback *cb, uint64_t value, struct place at,
		      bool wide)
{
	if (wide)
		lane_put(l, place_wide(at));
	if (value < CODE_READY)
		value <<= MARKER_CODE_SHIFT;
	lane_put(l, cb->head | value | (place_bits(at) & (CODE_READY - 1)));
}

/* All that is rare: first events of code and of threads, full rings, far jumps, long code. */
static __attribute__((noinline, cold)) PyObject *emit_slowly(struct callback *cb,
							     PyObject *const *args)
{
	struct place at = place_exactly(cb->shape, args);
	bool wide = place_is_far(at) || at.offset > MARKER_OFFSET_MAX;
	uint64_t value = codes_value(cb->codes, args[0]);
	struct lane *l;

	if (value == CODE_NO_ID) {
		lanes_drop(1);
		Py_RETURN_NONE;
	}
	if (value < CODE_READY && value & CODE_FILTERED)
		return Py_NewRef(cb->disable);
	l = lane_open(cb->interpreter, cb->codes->view, 1 + wide);
	if (!l)
		Py_RETURN_NONE;
	if (!l->named) {
		l->named = true;
		threads_tell(l->tid);
	}
	put_event(l, cb, value, at, wide);
	Py_RETURN_NONE;
}

/*
 * `plain` is the case of nearly every program: the interpreter that traced first in the process,
 * and the first slot of co_extra. It has neither a slot number nor an interpreter to compare.
 */
static inline PyObject *emit(struct callback *cb, PyObject *const *args, struct place at,
			     bool plain)
{
	uint64_t value = plain ? codes_peek_first(args[0]) : codes_peek(args[0], cb->direct);
	struct lane *l = lane_of[plain ? LANE_FIRST : LANE_OTHERS];

	if (unlikely(value < CODE_READY || l->head == l->limit || place_is_far(at) ||
		     (!plain && l->interpreter != cb->interpreter)))
		return emit_slowly(cb, args);
	lane_put(l, cb->head | value | place_bits(at));
	Py_RETURN_NONE;
}

/*
 * The number if it is not negative and has one digit of 30 bits. Offsets are; code with larger
 * lines has no ready id (codes.h), so that they are read again, exactly.
 */
static inline uint32_t number(PyObject *n)
{
	return ((PyLongObject *)n)->long_value.ob_digit[0];
}

static inline PyObject *emit_shape(struct callback *cb, PyObject *const *args,
				   enum emit_shape shape, bool plain)
{
	uint32_t first = number(args[1]);
	struct place at = { shape == EMIT_LINE ? first : first / 2, 0 };

	if (shape == EMIT_BACKWARD && number(args[2]) > first)
		return Py_NewRef(cb->disable);
	if (shape == EMIT_DEST || shape == EMIT_BACKWARD)
		at.dist = (int32_t)(number(args[2]) / 2 - at.offset);
	return emit(cb, args, at, plain);
}

#define EMITTER(name, shape, plain)                                                                \
	static PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf,                \
			      PyObject *kwnames)                                                   \
	{                                                                                          \
		return emit_shape((struct callback *)self, args, shape, plain);                    \
	}

EMITTER(plain_offset, EMIT_OFFSET, true)
EMITTER(plain_line, EMIT_LINE, true)
EMITTER(plain_dest, EMIT_DEST, true)
EMITTER(plain_backward, EMIT_BACKWARD, true)
EMITTER(any_offset, EMIT_OFFSET, false)
EMITTER(any_line, EMIT_LINE, false)
EMITTER(any_dest, EMIT_DEST, false)
EMITTER(any_backward, EMIT_BACKWARD, false)

static const vectorcallfunc emitters[LANE_VIEWS][4] = {
	[LANE_FIRST] = { plain_offset, plain_line, plain_dest, plain_backward },
	[LANE_OTHERS] = { any_offset, any_line, any_dest, any_backward },
};

PyObject *emit_new(PyTypeObject *type, struct codes *codes, enum marker_op op,
		   enum emit_shape shape, PyObject *disable)
{
	struct callback *cb = (struct callback *)type->tp_alloc(type, 0);

	if (!cb)
		return NULL;
	cb->call = emitters[codes->view][shape];
	cb->head = marker_head(op, 0);
	cb->interpreter = codes->interpreter;
	cb->direct = codes->direct;
	cb->codes = codes;
	cb->shape = shape;
	cb->disable = Py_NewRef(disable);
	return (PyObject *)cb;
}

static void emit_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	Py_DECREF(((struct callback *)self)->disable);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyMemberDef emit_members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(struct callback, call), READONLY, NULL },
	{ NULL },
};

static PyType_Slot emit_slots[] = {
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_dealloc, emit_dealloc },
	{ Py_tp_members, emit_members },
	{ 0, NULL },
};

PyType_Spec emit_spec = {
	.name = "ocular._core.callback",
	.basicsize = sizeof(struct callback),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE |
		 Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = emit_slots,
};
