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

/* A function that does nothing with what it is called with: what a call takes. */
static PyObject *ignore(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
	Py_RETURN_NONE;
}

#define L(what, ...) { #what, what, METH_O, NULL },
static PyMethodDef methods[] = { LOOPS(L){ "ignore", (PyCFunction)(void (*)(void))ignore, METH_FASTCALL | METH_KEYWORDS,
					   NULL },
				 { NULL, NULL, 0, NULL } };

/* A context manager that does nothing: what `with` itself takes. */
static PyObject *make(PyObject *type, PyObject *const *args, size_t n, PyObject *names)
{
	return PyObject_New(PyObject, (PyTypeObject *)type);
}

static PyObject *enter(PyObject *self, PyObject *unused)
{
	return Py_NewRef(self);
}

static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	Py_RETURN_NONE;
}

static void dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef empty_methods[] = {
	{ "__enter__", enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, NULL },
	{ NULL, NULL, 0, NULL },
};
static PyType_Slot empty_slots[] = { { Py_tp_methods, empty_methods },
				     { Py_tp_dealloc, (void *)dealloc },
				     { 0, NULL } };
static PyType_Spec empty_spec = { "labels.Empty", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
				  empty_slots };

static struct PyModuleDef definition = { .m_base = PyModuleDef_HEAD_INIT, .m_name = "labels", .m_methods = methods };

PyMODINIT_FUNC PyInit_labels(void)
{
	PyObject *module = PyModule_Create(&definition);
	PyTypeObject *empty = (PyTypeObject *)PyType_FromModuleAndSpec(module, &empty_spec, NULL);

	name = ocular_name("parse");
	empty->tp_vectorcall = make;
	PyModule_AddObjectRef(module, "Empty", (PyObject *)empty);
	return module;
}
