/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the callbacks: what makes them, and what they do when it is not the common case, which is
 * emit_path.h, and of rings emit_ring.c.
 */
#include <stddef.h>
#include <structmember.h>

#include "emit_path.h"
#include "scratch.h"
#include "table.h"
#include "threads.h"
#include "trigger.h"

/* A place in a code object: code units (or a line), and how far from there a jump goes. */
struct place {
	uint32_t offset;
	int32_t dist;
};

static uint64_t place_bits(struct place at)
{
	return (uint64_t)at.offset << MARKER_OFFSET_SHIFT | (uint8_t)at.dist;
}

static bool place_is_far(struct place at)
{
	return (uint32_t)(at.dist + MARKER_DIST_MAX) > 2 * MARKER_DIST_MAX;
}

static uint64_t place_wide(struct place at)
{
	return marker_wide(0, at.offset, at.dist ? at.offset + (uint32_t)at.dist : 0);
}

/* The place that the hot path knows the bits of, from numbers of any size: lines go up to 2^31. */
static struct place place_exactly(enum emit_shape shape, PyObject *const *args)
{
	uint32_t at = (uint32_t)PyLong_AsLong(args[1]);

	if (shape == EMIT_LINE)
		return (struct place){ at, 0 };
	if (shape == EMIT_OFFSET)
		return (struct place){ at / 2, 0 };
	return (struct place){ at / 2, (int32_t)((uint32_t)PyLong_AsLong(args[2]) / 2 - at / 2) };
}

static void put_event(struct lane *l, struct callback *cb, uint64_t value, struct place at, bool wide)
{
	if (wide)
		lane_write(l, place_wide(at));
	if (value < CODE_READY)
		value = (value & MARKER_CODE_MAX) << MARKER_CODE_SHIFT;
	lane_write(l, cb->head | value | (place_bits(at) & (CODE_READY - 1)));
}

/*
 * A thread's first word: its name goes into the table. That may be a property, which runs what it likes. So
 * the lane is opened again; NULL, too, if it was reset: the property stopped tracing.
 */
static struct lane *name_thread(const struct callback *cb, struct lane *l, unsigned int words)
{
	l->named = true;
	table_begin();
	threads_tell(l->tid);
	return l->named ? lane_open(cb->interpreter, cb->codes->view, cb->codes->window, words) : NULL;
}

static PyObject *see_event(struct callback *cb, PyObject *const *args)
{
	struct place at = place_exactly(cb->shape, args);
	bool wide = place_is_far(at) || at.offset > MARKER_OFFSET_MAX;
	uint64_t value;
	struct lane *l;

	if (scratch_wrap(cb->codes->view))
		return cb->call((PyObject *)cb, args, 0, NULL);
	if (cb->shape == EMIT_BACKWARD && at.dist > 0)
		return Py_NewRef(cb->disable);
	value = codes_value(cb->codes, args[0]);
	if (value == CODE_NO_ID) {
		lanes_drop(1);
		Py_RETURN_NONE;
	}
	if (value < CODE_READY && value & CODE_FILTERED)
		return Py_NewRef(cb->disable);
	l = lane_open(cb->interpreter, cb->codes->view, cb->codes->window, 1 + wide);
	if (l && !l->named)
		l = name_thread(cb, l, 1 + wide);
	if (!l)
		Py_RETURN_NONE;
	put_event(l, cb, value, at, wide);
	if (value < CODE_READY && value & CODE_TRIGGER)
		triggers_see(codes_triggers(value), marker_op(cb->head));
	Py_RETURN_NONE;
}

/* CPython lends the callback, and lets go of it where tracing stops meanwhile. */
PyObject *emit_slowly(struct callback *cb, PyObject *const *args)
{
	PyObject *result;

	Py_INCREF(cb);
	result = see_event(cb, args);
	Py_DECREF(cb);
	return result;
}

EMITTERS(emitters_software, emit_offset, emit_dest, emit_backward, lane_put);

static emitters *const emitters_of[BACKENDS] = {
	[BACKEND_SOFTWARE] = &emitters_software,
	[BACKEND_PTWRITE] = &emitters_ptwrite,
	[BACKEND_EMULATED] = &emitters_emulated,
};

/* Not the hot path's: mode opcodes alone, and most branches but once. */
static PyObject *emit_doubtful(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	struct callback *cb = (struct callback *)self;
	uint64_t value = codes_peek(args[0], cb->direct);

	if (value >= CODE_READY && !codes_is_doubtful(value, number(args[1]) / 2))
		return Py_NewRef(cb->disable);
	return cb->dest(self, args, nargsf, kwnames);
}

/* What the interpreter calls. */
static vectorcallfunc emitter(enum marker_op op, enum lane_view view, enum emit_shape shape)
{
	emitters *table = emitters_of[lanes_backend()];

	if (shape == EMIT_DOUBTFUL)
		return emit_doubtful;
#ifdef EMIT_INSTRUCTION
	if (op == OP_INSTRUCTION && (*table)[view][shape] == emit_offset)
		return emit_instruction;
#endif
	return (*table)[view][shape];
}

PyObject *emit_new(PyTypeObject *type, struct codes *codes, enum marker_op op, enum emit_shape shape, PyObject *disable)
{
	struct callback *cb = (struct callback *)type->tp_alloc(type, 0);

	if (!cb)
		return NULL;
	cb->dest = (*emitters_of[lanes_backend()])[codes->view][EMIT_DEST];
	cb->call = emitter(op, codes->view, shape);
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
