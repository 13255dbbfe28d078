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

/* All that is rare: a code object's or a thread's first event, a full ring, far jumps, long code.
 */
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
	l = lane_open(cb->interpreter, 1 + wide);
	if (!l)
		Py_RETURN_NONE;
	if (!l->named) {
		l->named = true;
		threads_tell(l->tid);
	}
	put_event(l, cb, value, at, wide);
	Py_RETURN_NONE;
}

static inline PyObject *emit(struct callback *cb, PyObject *const *args, struct place at, bool far)
{
	uint64_t value = codes_peek(args[0], cb->direct);
	struct lane *l = lane_mine;

	if (unlikely(value < CODE_READY || l->head == l->limit ||
		     l->interpreter != cb->interpreter || far))
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

static PyObject *emit_offset(PyObject *self, PyObject *const *args, size_t nargsf,
			     PyObject *kwnames)
{
	struct place at = { number(args[1]) / 2, 0 };

	return emit((struct callback *)self, args, at, false);
}

static PyObject *emit_line(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	struct place at = { number(args[1]), 0 };

	return emit((struct callback *)self, args, at, false);
}

static PyObject *emit_dest(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	uint32_t offset = number(args[1]) / 2;
	struct place at = { offset, (int32_t)(number(args[2]) / 2 - offset) };

	return emit((struct callback *)self, args, at, place_is_far(at));
}

static PyObject *emit_backward(PyObject *self, PyObject *const *args, size_t nargsf,
			       PyObject *kwnames)
{
	if (number(args[2]) > number(args[1]))
		return Py_NewRef(((struct callback *)self)->disable);
	return emit_dest(self, args, nargsf, kwnames);
}

static const vectorcallfunc shapes[] = {
	[EMIT_OFFSET] = emit_offset,
	[EMIT_LINE] = emit_line,
	[EMIT_DEST] = emit_dest,
	[EMIT_BACKWARD] = emit_backward,
};

PyObject *emit_new(PyTypeObject *type, struct codes *codes, enum marker_op op,
		   enum emit_shape shape, PyObject *disable)
{
	struct callback *cb = (struct callback *)type->tp_alloc(type, 0);

	if (!cb)
		return NULL;
	cb->call = shapes[shape];
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
