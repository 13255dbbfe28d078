/* SPDX-License-Identifier: MIT */
/*
 * emit.c - makes the callbacks. Their common case is in emit_path.h, for rings in arch/; other cases are in callback.c.
 */
#include <stddef.h>
#include <structmember.h>

#include "emit.h"
#include "emit_path.h"

static emitters *const emitters_of[BACKENDS] = {
	[BACKEND_SOFTWARE] = &emitters_software,
	[BACKEND_PTWRITE] = &emitters_ptwrite,
	[BACKEND_EMULATED] = &emitters_emulated,
};

static emitters *chosen(void)
{
	return lanes_coarse() ? &emitters_coarse : emitters_of[lanes_backend()];
}

/* Not on the hot path: mode opcodes only, and most branches only once. */
static PyObject *emit_ambiguous(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	struct callback *cb = (struct callback *)self;
	uint64_t value = callback_is_code(cb, args[0]) ? codes_peek(args[0], cb->direct) : 0;

	if (value >= CODE_READY && !codes_is_ambiguous(value, callback_number(args[1]) / 2))
		return Py_NewRef(cb->disable);
	return cb->dest(self, args, nargsf, kwnames);
}

/* Nor is this, of RAISE, RERAISE and PY_THROW: an exception costs more than its marker. */
static PyObject *emit_raise(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
	(void)nargsf, (void)kwnames;
	return callback_slow((struct callback *)self, args);
}

/* What the interpreter calls. */
static vectorcallfunc emitter(enum marker_op op, enum lane_view view, enum emit_shape shape)
{
	if (shape == EMIT_AMBIGUOUS)
		return emit_ambiguous;
	if (shape == EMIT_RAISE || (shape == EMIT_OBJECT && op == OP_PY_THROW))
		return emit_raise;
	if (op == OP_INSTRUCTION)
		shape = EMIT_INSTRUCTION;
	return (*chosen())[view][shape];
}

PyObject *emit_new(PyTypeObject *type, struct codes *codes, enum marker_op op, enum emit_shape shape, PyObject *disable)
{
	struct callback *cb = (struct callback *)type->tp_alloc(type, 0);

	if (!cb)
		return NULL;
	cb->dest = (*chosen())[codes->view][EMIT_DEST];
	cb->call = emitter(op, codes->view, shape);
	cb->head = marker_head(op, 0);
	cb->interpreter = codes->interpreter;
	cb->direct = codes->direct;
	cb->code_type = &PyCode_Type;
	cb->codes = codes;
	cb->session = codes->session;
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
