/* SPDX-License-Identifier: MIT */
#include "owner.h"

#include <string.h>

#include "globals.h"

bool owner_is_wanted(PyObject *file)
{
	static const char frozen[] = "<frozen ";
	const char *name = globals_text(file);

	return name && *name == '<' && strncmp(name, frozen, sizeof(frozen) - 1) != 0;
}

/* By its globals: -1: they do not tell; 0: it is the main module's, which has no file; 1: *file, a new reference. */
static int ask_globals(PyObject *globals, PyObject **file)
{
	PyObject *from = globals_get(globals, "__file__"), *name;
	bool main;

	if (from && PyUnicode_Check(from) && !owner_is_wanted(from)) {
		*file = from;
		return 1;
	}
	Py_XDECREF(from);
	name = globals_get(globals, "__name__");
	main = globals_is_main(globals_text(name));
	Py_XDECREF(name);
	return main ? 0 : -1;
}

static int ask_frame(PyFrameObject *frame, PyObject **file)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	PyObject *globals = PyFrame_GetGlobals(frame);
	int known = 1;

	if (owner_is_wanted(code->co_filename))
		known = ask_globals(globals, file);
	else
		*file = Py_NewRef(code->co_filename);
	Py_DECREF(globals);
	Py_DECREF(code);
	return known;
}

PyObject *owner_find(PyObject *globals)
{
	PyObject *file = NULL;
	int known = ask_globals(globals, &file);
	PyFrameObject *frame = known < 0 ? PyThreadState_GetFrame(PyThreadState_Get()) : NULL;

	while (frame) {
		PyFrameObject *back;

		known = ask_frame(frame, &file);
		back = known < 0 ? PyFrame_GetBack(frame) : NULL;
		Py_DECREF(frame);
		frame = back;
	}
	return file;
}
