/* SPDX-License-Identifier: MIT */
/* imports.c - see imports.h. */
#include "imports.h"

#include "names.h"

/* importlib.import_module() calls it for modules, too, that are there. None in sys.modules is for one that is not. */
static bool is_loaded(PyObject *name)
{
	PyObject *module = PyImport_GetModule(name);
	bool loaded = module && module != Py_None;

	PyErr_Clear();
	Py_XDECREF(module);
	return loaded;
}

void imports_begun(struct codes *c, uint32_t session, PyObject *name, bool shown)
{
	uint32_t id = 0;
	struct lane *l;

	/* Of an exact str, looking it up runs no code of the program. */
	if (PyUnicode_CheckExact(name) && !is_loaded(name) && c->session == session)
		id = names_id(&c->imports, name, session);
	l = id ? codes_lane(c, session, 1) : NULL;
	if (l)
		lane_write(l, marker_extension(0, KIND_IMPORT, id));
}
