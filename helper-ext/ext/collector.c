/* SPDX-License-Identifier: MIT */
/* collector.c - see collector.h. Nothing in here may fail loudly: gc would print it. */
#include "collector.h"

#include <string.h>

static uint64_t number_of(PyObject *info, const char *key)
{
	PyObject *n = PyDict_Check(info) ? PyDict_GetItemString(info, key) : NULL;
	long number = n && PyLong_Check(n) ? PyLong_AsLong(n) : 0;

	PyErr_Clear();
	return number > 0 ? (uint64_t)number : 0;
}

PyObject *collector_event(struct codes *codes, PyObject *args)
{
	PyObject *info;
	const char *phase;
	struct lane *l;
	uint64_t word;

	if (!PyArg_ParseTuple(args, "sO", &phase, &info))
		return NULL;
	word = marker_collection(!strcmp(phase, "start"), number_of(info, "generation"), number_of(info, "collected"));
	l = lane_open(codes->interpreter, codes->view, codes->window, 1);
	if (l)
		lane_write(l, word);
	Py_RETURN_NONE;
}
