/* SPDX-License-Identifier: MIT */
#include "globals.h"

#include <string.h>

PyObject *globals_get(PyObject *globals, const char *name)
{
	PyObject *value;

#if PY_VERSION_HEX >= 0x030d0000
	if (PyDict_GetItemStringRef(globals, name, &value) < 0)
		PyErr_Clear();
#else
	value = Py_XNewRef(PyDict_GetItemString(globals, name));
#endif
	return value;
}

const char *globals_text(PyObject *object)
{
	const char *text = object && PyUnicode_Check(object) ? PyUnicode_AsUTF8(object) : NULL;

	PyErr_Clear();
	return text;
}

bool globals_is_main(const char *name)
{
	return name && (!strcmp(name, "__main__") || !strcmp(name, "__mp_main__"));
}
