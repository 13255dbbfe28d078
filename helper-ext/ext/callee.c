/* SPDX-License-Identifier: MIT */
/* callee.c - see callee.h. What a C function is called is in callee_name.c. */
#include <stdlib.h>

#include "bytecode.h"
#include "callee.h"
#include "callee_name.h"
#include "process.h"
#include "setup.h"
#include "table.h"

#define FIRST_BITS 10 /* of the first table's size */

/* Never full: lookups need no other test. */
static struct {
	struct callees head;
	struct callee all[2];
} nothing = { .head = { .shift = 63 } };
struct callees *_Atomic callees = &nothing.head;

/* Roles of a type when it is not called itself: it stands for its objects; it is that of an exception. */
#define OBJECT_OF    1u
#define EXCEPTION_OF 2u

/* Another type may come to lie where one was. Its name tells them apart, by its hash, which is kept with it. */
static uint64_t check_of(PyTypeObject *type)
{
	PyObject *name;

	if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE))
		return 0;
	name = ((PyHeapTypeObject *)type)->ht_qualname;
	return PyUnicode_CheckExact(name) ? (uint64_t)PyObject_Hash(name) : (uintptr_t)name;
}

static struct definition definition_of_type(PyTypeObject *type, uintptr_t role)
{
	return (struct definition){ (uintptr_t)type | role, check_of(type) };
}

static struct definition definition_of_builtin(PyObject *callable)
{
	return (struct definition){ (uintptr_t)((PyCFunctionObject *)callable)->m_ml, 0 };
}

static struct definition definition_of(PyObject *callable)
{
	PyTypeObject *type = Py_TYPE(callable);
	PyWrapperDescrObject *slot;

	if (PyType_Check(callable))
		return definition_of_type((PyTypeObject *)callable, 0);
	if (PyCFunction_Check(callable))
		return definition_of_builtin(callable);
	if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type)
		return (struct definition){ (uintptr_t)((PyMethodDescrObject *)callable)->d_method, 0 };
	slot = callee_slot(callable);
	if (slot)
		return (struct definition){ (uintptr_t)slot->d_wrapped, (uintptr_t)slot->d_base };
	return definition_of_type(type, OBJECT_OF);
}

/* CPython 3.13 and later report that f(*args) calls a bound method, but never its end. */
static bool has_no_end(PyObject *code, uint32_t offset)
{
	return bytecode_opcode(&setup.ops, (PyCodeObject *)code, offset / 2) == setup.ops.call_function_ex;
}

/*
 * What a bound method calls, which from CPython 3.14 on the event says itself, or a C function that pybind11 made a
 * method of. NULL: not a C function whose end will come.
 */
static PyObject *unbound(PyObject *callable, PyObject *code, uint32_t offset)
{
	PyObject *function;

	if (PyInstanceMethod_Check(callable) && PyCFunction_Check(PyInstanceMethod_GET_FUNCTION(callable)))
		return PyInstanceMethod_GET_FUNCTION(callable);
	if (Py_TYPE(callable) != &PyMethod_Type)
		return callable;
	function = PyMethod_GET_FUNCTION(callable);
	return Py_TYPE(function) == &PyFunction_Type || has_no_end(code, offset) ? NULL : function;
}

uint64_t callees_other(PyObject *callable, PyObject *code, uint32_t offset)
{
	uint64_t value = CALLEE_PYTHON;

	callable = unbound(callable, code, offset);
	if (callable && Py_TYPE(callable) != &PyFunction_Type)
		value = callees_find(definition_of(callable));
	return value == CALLEE_LIKE_BUILTIN ? callees_find(definition_of_builtin(callable)) : value;
}

static struct callees *new_table(unsigned int bits)
{
	size_t size = sizeof(struct callees) + ((size_t)1 << bits) * sizeof(struct callee);
	struct callees *t = aligned_alloc(_Alignof(struct callees), size);

	if (!t)
		return NULL;
	memset(t, 0, size);
	t->shift = 64 - bits;
	return t;
}

static void put(struct callees *t, struct definition d, uint64_t value)
{
	struct callee *c = callees_at(t, d);

	c->check = d.check;
	c->value = value;
	atomic_store_explicit(&c->address, d.address, memory_order_release);
	t->used++;
}

/* A table with room for one more, at most half full. NULL: no memory. */
static struct callees *with_room(struct callees *t)
{
	bool none = t == &nothing.head;
	size_t size = none ? 0 : (size_t)1 << (64 - t->shift);
	struct callees *larger;

	if (2 * (t->used + 1) <= size)
		return t;
	larger = new_table(none ? FIRST_BITS : 64 - t->shift + 1);
	if (!larger)
		return NULL;
	for (size_t i = 0; i < size; i++)
		if (t->all[i].address)
			put(larger, (struct definition){ t->all[i].address, t->all[i].check }, t->all[i].value);
	larger->before = t;
	callees = larger;
	return larger;
}

/* The value that is in the table then: another thread may have been first. */
static uint64_t publish(struct definition d, uint64_t value)
{
	struct callees *t;
	uint64_t there;

	process_lock();
	there = callees_find(d);
	t = there ? NULL : with_room(callees);
	if (t)
		put(t, d, value);
	process_unlock();
	return there ? there : value;
}

static uint64_t write_line(const char *kind, struct text *rest)
{
	uint32_t id = table_next_id();
	struct text t = { 0 };

	if (!id)
		return CALLEE_NO_ID;
	text_printf(&t, "{\"kind\":\"%s\",\"id\":%u", kind, id);
	text_add(&t, rest->bytes, rest->length);
	t.failed |= rest->failed;
	table_write(&t);
	text_free(&t);
	return (uint64_t)id << MARKER_CALLEE_SHIFT;
}

/* Nothing after the last call of Python lets tracing end, or, with a GIL, another thread see the definition, too. */
uint64_t callees_value(struct codes *c, PyObject *const *args, uint32_t session)
{
	PyObject *callable = unbound(args[2], args[0], (uint32_t)PyLong_AsLong(args[1]));
	PyObject *first = Py_TYPE(args[2]) == &PyMethod_Type ? PyMethod_GET_SELF(args[2]) : args[3];
	struct definition d;
	struct text line = { 0 };
	uint64_t value;

	if (!callable || Py_TYPE(callable) == &PyFunction_Type)
		return CALLEE_PYTHON;
	d = definition_of(callable);
	if (callee_is_like_builtin(Py_TYPE(callable))) {
		publish(d, CALLEE_LIKE_BUILTIN);
		d = definition_of_builtin(callable);
	}
	value = callees_find(d);
	if (value)
		return value;
	value = callee_describe(callable, first, &line) ? 0 : CALLEE_PYTHON;
	if (c->session != session)
		value = 0;
	else
		value = publish(d, value ? value : write_line("c_function", &line));
	text_free(&line);
	return value;
}

uint32_t callees_exception(struct codes *c, PyTypeObject *type, uint32_t session)
{
	struct definition d = definition_of_type(type, EXCEPTION_OF);
	uint64_t value = callees_find(d);
	struct text line = { 0 };

	if (!value) {
		callee_describe_type(type, &line);
		value = c->session == session ? publish(d, write_line("exception", &line)) : CALLEE_NO_ID;
		text_free(&line);
	}
	return value == CALLEE_NO_ID ? 0 : value >> MARKER_CALLEE_SHIFT;
}

void callees_free(void)
{
	struct callees *t;

	process_lock();
	t = callees;
	callees = &nothing.head;
	while (t != &nothing.head) {
		struct callees *before = t->before;

		free(t);
		t = before;
	}
	process_unlock();
}
