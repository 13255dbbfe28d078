/* SPDX-License-Identifier: MIT */
/* collector.c - see collector.h. Nothing in here may fail loudly: gc would print it. */
#include "collector.h"

static long generation_of(PyObject *info)
{
	PyObject *n = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : NULL;
	long generation = n && PyLong_Check(n) ? PyLong_AsLong(n) : 0;

	return generation >= 0 && generation < COLLECTOR_GENERATIONS ? generation : 0;
}

static PyObject *code_of(struct collector *c, long generation)
{
	char name[48];

	snprintf(name, sizeof(name), "garbage collection, generation %ld", generation);
	if (!c->codes[generation])
		c->codes[generation] = (PyObject *)PyCode_NewEmpty("<gc>", name, 1);
	return c->codes[generation];
}

PyObject *collector_event(struct collector *c, struct codes *codes, PyObject *args)
{
	PyObject *code, *info;
	const char *phase;
	struct lane *l;
	uint64_t value;

	if (!PyArg_ParseTuple(args, "sO", &phase, &info))
		return NULL;
	code = code_of(c, generation_of(info));
	value = code ? codes_value_ours(codes, code) : CODE_NO_ID;
	PyErr_Clear();
	if (value < CODE_READY) /* no id is left */
		Py_RETURN_NONE;
	l = lane_open(codes->interpreter, codes->view, codes->window, 1);
	if (l)
		lane_write(l, marker_head(*phase == 's' && phase[2] == 'a' ? OP_PY_START : OP_PY_RETURN, 0) | value);
	Py_RETURN_NONE;
}
