// SPDX-License-Identifier: MIT
/* labels.c - a loop for each call of ocular.h: make bench, labels. Each takes a number of turns. */
#include <ocular.h>

static struct ocular_name *name;

#define LOOPS(L) \
	L(nothing, ) \
	L(span, ocular_begin(name, 0); ocular_end(name, 0)) \
	L(instant, ocular_instant(name)) \
	L(counter, ocular_counter(name, 7))

#define L(what, ...) \
	static PyObject *what(PyObject *self, PyObject *turns) \
	{ \
		(void)self; \
		for (long n = PyLong_AsLong(turns); n > 0; n--) { \
			__asm__ volatile(""); /* the loop stays */ \
			__VA_ARGS__; \
		} \
		Py_RETURN_NONE; \
	}
LOOPS(L)
#undef L

#define L(what, ...) { #what, what, METH_O, NULL },
static PyMethodDef methods[] = { LOOPS(L){ NULL, NULL, 0, NULL } };
static struct PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT, .m_name = "labels", .m_methods = methods };

PyMODINIT_FUNC PyInit_labels(void)
{
	name = ocular_name("parse");
	return PyModule_Create(&definition);
}
