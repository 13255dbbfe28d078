/* SPDX-License-Identifier: MIT */
/* imports.c - see imports.h. */
#include "imports.h"

#include "names.h"

bool imports_are_of(PyCodeObject *code)
{
	return !PyUnicode_CompareWithASCIIString(code->co_qualname, "_find_and_load") &&
	       !PyUnicode_CompareWithASCIIString(code->co_filename, "<frozen importlib._bootstrap>");
}

/* importlib.import_module() calls it for modules, too, that are there. None in sys.modules is for one that is not. */
static bool is_loaded(PyObject *name)
{
	PyObject *module = PyImport_GetModule(name);
	bool loaded = module && module != Py_None;

	PyErr_Clear();
	Py_XDECREF(module);
	return loaded;
}

/* A new reference, or NULL: an exact str, so that looking it up runs no code of the program. */
static PyObject *name_of_frame(void)
{
	PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
	PyObject *name = frame ? PyFrame_GetVarString(frame, "name") : NULL;

	PyErr_Clear();
	Py_XDECREF(frame);
	if (name && !PyUnicode_CheckExact(name))
		Py_CLEAR(name);
	return name;
}

uint32_t imports_id(struct codes *c, uint32_t session)
{
	PyObject *name = name_of_frame();
	uint32_t id = 0;

	if (name && !is_loaded(name) && c->session == session)
		id = names_id(c->imports, "import", name, session);
	Py_XDECREF(name);
	return id;
}
