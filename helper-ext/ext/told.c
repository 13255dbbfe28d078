/* SPDX-License-Identifier: MIT */
/* told.c - see told.h. */
#include "told.h"

#include "shared/ticks.h"
#include "trigger.h"

static struct told *data_of(PyObject *row, PyTypeObject *type)
{
	return PyObject_GetTypeData(row, type);
}

const struct told *told_get(const struct told_map *m, PyObject *row)
{
	return data_of(row, m->type);
}

void told_set(const struct told_map *m, PyObject *row, uint64_t coroutine)
{
	data_of(row, m->type)->coroutine = coroutine;
}

static int row_traverse(PyObject *row, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(row));
	return _PyWeakref_RefType.tp_traverse(row, visit, arg);
}

static int row_clear(PyObject *row)
{
	return _PyWeakref_RefType.tp_clear(row);
}

static void row_dealloc(PyObject *row)
{
	PyTypeObject *type = Py_TYPE(row);

	Py_CLEAR(data_of(row, type)->name);
	_PyWeakref_RefType.tp_dealloc(row);
	Py_DECREF(type);
}

static PyType_Slot row_slots[] = {
	{ Py_tp_traverse, row_traverse },
	{ Py_tp_clear, row_clear },
	{ Py_tp_dealloc, row_dealloc },
	{ 0, NULL },
};

static PyType_Spec row_spec = {
	.name = "ocular._core.told",
	.basicsize = -(int)sizeof(struct told),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = row_slots,
};

/* A task has died, with its result: how long ago was it seen first? */
static void watch(const struct told *t)
{
	if (t->name)
		triggers_task(t->name, ticks_now() - t->seen);
}

static void set_recent(struct told_map *m, PyObject *row)
{
#ifndef Py_GIL_DISABLED
	Py_XSETREF(m->recent, Py_XNewRef(row));
#endif
}

static PyObject *recent_of(const struct told_map *m, const void *task)
{
#ifndef Py_GIL_DISABLED
	if (m->recent && data_of(m->recent, m->type)->task == task)
		return m->recent;
#endif
	return NULL;
}

/* A task has died: forget it, unless there is a new row for its address. */
static PyObject *forget(PyObject *rows, PyObject *row)
{
	const struct told *t = data_of(row, Py_TYPE(row));
	PyObject *key = PyLong_FromVoidPtr((void *)t->task);

	if (key && PyDict_GetItemWithError(rows, key) == row) {
		PyDict_DelItem(rows, key); /* whoever calls has a reference to the row */
		watch(t);
	}
	PyErr_Clear();
	Py_XDECREF(key);
	Py_RETURN_NONE;
}

static PyMethodDef forget_method = { "forget", forget, METH_O, NULL };

int told_open(PyObject *module, struct told_map *m)
{
	m->type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &row_spec, (PyObject *)&_PyWeakref_RefType);
	m->rows = PyDict_New();
	m->forget = m->rows ? PyCFunction_New(&forget_method, m->rows) : NULL;
	return m->type && m->forget ? 0 : -1;
}

int told_traverse(const struct told_map *m, visitproc visit, void *arg)
{
	Py_VISIT(m->type);
	Py_VISIT(m->rows);
	Py_VISIT(m->forget);
	return 0;
}

void told_clear(struct told_map *m)
{
	Py_CLEAR(m->type);
	Py_CLEAR(m->rows);
	Py_CLEAR(m->forget);
	set_recent(m, NULL);
}

void told_forget_all(struct told_map *m)
{
	set_recent(m, NULL);
	PyDict_Clear(m->rows);
}

static bool refers_to(PyObject *reference, PyObject *task)
{
#if PY_VERSION_HEX >= 0x030d0000
	PyObject *there = NULL;
	bool same = PyWeakref_GetRef(reference, &there) > 0 && there == task;

	PyErr_Clear();
	Py_XDECREF(there);
	return same;
#else
	return PyWeakref_GET_OBJECT(reference) == task;
#endif
}

/* A new reference, or NULL without an exception. */
static PyObject *look_up(PyObject *rows, const void *task)
{
	PyObject *key = PyLong_FromVoidPtr((void *)task), *row = NULL;

#if PY_VERSION_HEX >= 0x030d0000
	if (key)
		PyDict_GetItemRef(rows, key, &row);
#else
	row = key ? Py_XNewRef(PyDict_GetItemWithError(rows, key)) : NULL;
#endif
	PyErr_Clear();
	Py_XDECREF(key);
	return row;
}

PyObject *told_find(const struct told_map *m, PyObject *task)
{
	PyObject *row = Py_XNewRef(recent_of(m, task)) ?: look_up(m->rows, task);

	if (row && !refers_to(row, task))
		Py_CLEAR(row);
	return row;
}

void told_put(struct told_map *m, PyObject *task, uint64_t coroutine, PyObject *name, uint64_t seen)
{
	PyObject *key = PyLong_FromVoidPtr(task), *args = PyTuple_Pack(2, task, m->forget);
	PyObject *row = args ? m->type->tp_new(m->type, args, NULL) : NULL;

	if (row)
		*data_of(row, m->type) = (struct told){ coroutine, seen, Py_XNewRef(name), task };
	if (row && key && !PyDict_SetItem(m->rows, key, row))
		set_recent(m, row);
	PyErr_Clear();
	Py_XDECREF(row);
	Py_XDECREF(args);
	Py_XDECREF(key);
}
