/* SPDX-License-Identifier: MIT */
/* dispatch_python.c - see dispatch_python.h. */
#include "dispatch.h"
#include "dispatch_python.h"

static PyObject *addresses(const uint64_t *list, size_t n)
{
	PyObject *result = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; result && i < n; i++) {
		PyObject *address = PyLong_FromUnsignedLongLong(list[i]);

		if (!address)
			Py_CLEAR(result);
		else
			PyList_SET_ITEM(result, (Py_ssize_t)i, address);
	}
	return result;
}

static PyObject *ranges(const struct range *list, size_t n)
{
	PyObject *result = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; result && i < n; i++) {
		PyObject *pair = Py_BuildValue("[KK]", (unsigned long long)list[i].start,
					       (unsigned long long)list[i].end);

		if (!pair)
			Py_CLEAR(result);
		else
			PyList_SET_ITEM(result, (Py_ssize_t)i, pair);
	}
	return result;
}

static PyObject *describe(const struct dispatch *d, const struct image *image)
{
	return Py_BuildValue("{s:s,s:N,s:K,s:N,s:N}", "object", image->name, "targets",
			     addresses(d->targets, DISPATCH_OPCODES), "unused", (unsigned long long)d->unused, "code",
			     ranges(d->code, d->ncode), "again", addresses(d->again, d->nagain));
}

PyObject *dispatch_python(PyObject *module, PyObject *used)
{
	char error[DISPATCH_ERROR] = "the interpreter's code is in no object";
	bool is_used[DISPATCH_OPCODES];
	struct dispatch d;
	struct image image;

	if (!PyBytes_Check(used) || PyBytes_GET_SIZE(used) != DISPATCH_OPCODES) {
		PyErr_SetString(PyExc_TypeError, "256 bytes are wanted");
		return NULL;
	}
	for (int op = 0; op < DISPATCH_OPCODES; op++)
		is_used[op] = PyBytes_AS_STRING(used)[op] != 0;
	if (image_of(&image, (const void *)PyEval_EvalCode)) {
		image.entry = (uint64_t)_PyEval_EvalFrameDefault;
		if (!dispatch_find(&d, &image, is_used, error))
			return describe(&d, &image);
	}
	PyErr_SetString(PyExc_RuntimeError, error);
	return NULL;
}
