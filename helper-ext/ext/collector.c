/* SPDX-License-Identifier: MIT */
/* collector.c - see collector.h. Nothing in here may fail loudly: gc would print it. */
#include "collector.h"

static long generation_of(PyObject *info)
{
	PyObject *n = PyDict_Check(info) ? PyDict_GetItemString(info, "generation") : NULL;
	long generation = n && PyLong_Check(n) ? PyLong_AsLong(n) : 0;

	return generation >= 0 && generation < COLLECTOR_GENERATIONS ? generation : 0;
}

/* If two threads make it at once, the first one's is used. */
static PyObject *code_of(struct collector *c, long generation)
{
	PyObject *code = atomic_load(&c->codes[generation]), *none = NULL;
	char name[48];

	if (code)
		return code;
	snprintf(name, sizeof(name), "garbage collection, generation %ld", generation);
	code = (PyObject *)PyCode_NewEmpty("<gc>", name, 1);
	if (atomic_compare_exchange_strong(&c->codes[generation], &none, code))
		return code;
	Py_XDECREF(code);
	return none;
}

PyObject *collector_event(struct collector *c, struct codes *codes, PyObject *args)
{
	PyObject *code, *info;
	uint32_t session = codes->session;
	const char *phase;
	struct lane *l;
	uint64_t value;

	if (!PyArg_ParseTuple(args, "sO", &phase, &info))
		return NULL;
	if (codes->window == LANE_SHUT)
		Py_RETURN_NONE;
	code = code_of(c, generation_of(info));
	value = code ? codes_value_ours(codes, code, session) : CODE_NO_ID;
	PyErr_Clear();
	if (value < CODE_READY || codes->session != session) /* no id is left, or tracing has ended */
		Py_RETURN_NONE;
	l = lane_open(codes->interpreter, codes->view, codes->window, 1);
	if (l)
		lane_write(l, marker_head(*phase == 's' && phase[2] == 'a' ? OP_PY_START : OP_PY_RETURN, 0) | value);
	Py_RETURN_NONE;
}
