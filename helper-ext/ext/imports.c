/* SPDX-License-Identifier: MIT */
/* imports.c - see imports.h. */
#include "imports.h"

#include "table.h"

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

static uint32_t write_name(PyObject *name)
{
	uint32_t id = table_next_id();
	struct text t = { 0 };

	if (!id)
		return 0;
	text_printf(&t, "{\"kind\":\"import\",\"id\":%u,\"name\":", id);
	text_str(&t, name);
	text_add(&t, "}", 1);
	table_write(&t);
	text_free(&t);
	return id;
}

/* A new reference, or NULL: without a GIL another thread may be replacing it. */
static PyObject *kept_of(PyObject *ids, PyObject *name)
{
	PyObject *kept = NULL;

#if PY_VERSION_HEX >= 0x030d0000
	PyDict_GetItemRef(ids, name, &kept);
#else
	kept = Py_XNewRef(PyDict_GetItemWithError(ids, name));
#endif
	PyErr_Clear();
	return kept;
}

/* An id is kept with its session: another one's is in another table. Threads that meet a name at once each write it. */
static uint32_t id_of(PyObject *ids, PyObject *name, uint32_t session)
{
	PyObject *kept = kept_of(ids, name);
	unsigned long long there = kept ? PyLong_AsUnsignedLongLong(kept) : 0;
	uint32_t id;

	Py_XDECREF(kept);

	if (there && there >> 24 == session)
		return there & MARKER_CODE_MAX;
	id = write_name(name);
	kept = id ? PyLong_FromUnsignedLongLong((unsigned long long)session << 24 | id) : NULL;
	if (kept)
		PyDict_SetItem(ids, name, kept);
	Py_XDECREF(kept);
	PyErr_Clear();
	return id;
}

uint32_t imports_id(struct codes *c, uint32_t session)
{
	PyObject *name = name_of_frame();
	uint32_t id = 0;

	if (name && !is_loaded(name) && c->session == session)
		id = id_of(c->imports, name, session);
	Py_XDECREF(name);
	return id;
}
