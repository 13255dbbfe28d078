/* SPDX-License-Identifier: MIT */
/* threads.c - see threads.h. Works whether or not threading.py itself is traced. */
#include <Python.h>

#include "adaptive.h"
#include "table.h"
#include "threads.h"

static PyFrameObject *outermost_frame(void)
{
	PyFrameObject *back, *frame = PyThreadState_GetFrame(PyThreadState_Get());

	while (frame && (back = PyFrame_GetBack(frame))) {
		Py_DECREF(frame);
		frame = back;
	}
	return frame;
}

static int is_bootstrap(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	int is = PyUnicode_CompareWithASCIIString(code->co_qualname, "Thread._bootstrap") == 0;

	Py_DECREF(code);
	return is;
}

static PyObject *thread_name(PyFrameObject *frame)
{
	PyObject *key = PyUnicode_FromString("_name");
	PyObject *self = PyFrame_GetVarString(frame, "self");
	PyObject *name = key && self ? PyObject_GenericGetAttr(self, key) : NULL;

	Py_XDECREF(self);
	Py_XDECREF(key);
	return name;
}

static void write_thread(uint32_t tid, PyObject *name)
{
	struct text t = { 0 };

	text_printf(&t, "{\"kind\":\"thread\",\"tid\":%u,\"name\":", tid);
	text_str(&t, name);
	text_add(&t, "}", 1);
	table_write(&t);
	text_free(&t);
}

/* Which copy of each code object's bytecode it runs, where threads have copies. */
static void write_copy(uint32_t tid)
{
	int copy = adaptive_own_copy();
	struct text t = { 0 };

	if (copy < 0)
		return;
	text_printf(&t, "{\"kind\":\"copy\",\"tid\":%u,\"copy\":%d}", tid, copy);
	table_write(&t);
	text_free(&t);
}

void threads_record(uint32_t tid)
{
	PyFrameObject *frame = outermost_frame();
	PyObject *name = frame && is_bootstrap(frame) ? thread_name(frame) : NULL;

	write_copy(tid);
	if (name && PyUnicode_Check(name))
		write_thread(tid, name);
	Py_XDECREF(name);
	Py_XDECREF(frame);
	PyErr_Clear();
}
