// SPDX-License-Identifier: MIT
/* frames.c - see frames.h. */
#include "frames.h"

#include <stdlib.h>

#include "lane.h"

#define END_NAME "ocular: end"

/* What is needed when the module may be gone. */
struct end {
	uint64_t interpreter;
	enum lane_view view;
};

static void emit_word(uint64_t interpreter, enum lane_view view, uint32_t open, bool traced)
{
	struct lane *l = lane_open(interpreter, view, LANE_ALWAYS, 1);

	if (l)
		lane_write(l, marker_frames(0, open, traced));
}

static uint32_t count(void)
{
	PyFrameObject *f = PyThreadState_GetFrame(PyThreadState_Get());
	uint32_t n = 0;

	while (f) {
		PyFrameObject *back = PyFrame_GetBack(f);

		Py_DECREF(f);
		f = back;
		n++;
	}
	return n;
}

void frames_emit(const struct codes *codes, bool traced)
{
	emit_word(codes->interpreter, codes->view, count(), traced);
}

static void ended(PyObject *capsule)
{
	struct end *end = PyCapsule_GetPointer(capsule, END_NAME);

	emit_word(end->interpreter, end->view, 0, false);
	free(end);
}

static PyObject *new_end(const struct codes *codes)
{
	struct end *end = malloc(sizeof(*end));
	PyObject *capsule;

	if (!end)
		return PyErr_NoMemory();
	*end = (struct end){ codes->interpreter, codes->view };
	capsule = PyCapsule_New(end, END_NAME, ended);
	if (!capsule)
		free(end);
	return capsule;
}

/*
 * The interpreter's own dict is cleared after its modules and their garbage. Once: another capsule would end the first.
 */
int frames_emit_at_end(const struct codes *codes)
{
	PyObject *dict = PyInterpreterState_GetDict(PyInterpreterState_Get()); /* borrowed */
	PyObject *capsule;
	int err;

	if (!dict || PyDict_GetItemString(dict, END_NAME))
		return 0;
	capsule = new_end(codes);
	err = capsule ? PyDict_SetItemString(dict, END_NAME, capsule) : -1;
	Py_XDECREF(capsule);
	return err;
}
