/* SPDX-License-Identifier: MIT */
/* keywords.h - keyword arguments as the vectorcall protocol passes them (PEP 590). */
#pragma once

#include <Python.h>

/* {name: value}, a new reference; NULL with an exception. */
static inline PyObject *keywords_dict(PyObject *const *values, PyObject *names)
{
	PyObject *dict = PyDict_New();

	for (Py_ssize_t i = 0; dict && i < PyTuple_GET_SIZE(names); i++)
		if (PyDict_SetItem(dict, PyTuple_GET_ITEM(names, i), values[i]))
			Py_CLEAR(dict);
	return dict;
}
