/* SPDX-License-Identifier: MIT */
/*
 * identity.c - see identity.h. The layouts are those of the headers that this is compiled with: pycore_frame.h (3.12,
 * 3.13), pycore_interpframe_structs.h (3.14, 3.15). monitor.py checks them at start, against id().
 */
#define Py_BUILD_CORE /* required by these headers */
#include "identity.h"

#include <stddef.h>

#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_frame.h>
#include <internal/pycore_interpframe_structs.h>
#define CODE f_executable
#elif PY_VERSION_HEX >= 0x030d0000
#include <internal/pycore_frame.h>
#define CODE f_executable
#else
#include <internal/pycore_frame.h>
#define CODE f_code
#endif

_Static_assert(offsetof(PyGenObject, gi_iframe) == IDENTITY_FRAME, "identity.h");
_Static_assert(offsetof(_PyInterpreterFrame, CODE) == 0, "identity.h");
_Static_assert(sizeof(((_PyInterpreterFrame *)0)->localsplus[0]) == sizeof(uintptr_t),
	       "references have their tags in them");

PyObject *identity_argument(int at)
{
	const _PyInterpreterFrame *f = (const _PyInterpreterFrame *)identity_frame();
	const uintptr_t *values = (const uintptr_t *)f->localsplus;

	return (PyObject *)(values[at] & IDENTITY_CODE);
}

uint64_t identity_of(PyObject *object, bool *begun)
{
	if (!PyGen_CheckExact(object) && !PyCoro_CheckExact(object))
		return 0;
	*begun = ((PyGenObject *)object)->gi_frame_state > FRAME_CREATED;
	return (uintptr_t)object >> IDENTITY_ADDRESS;
}

bool identity_to_come(PyObject *object, PyObject **code, PyObject **globals)
{
	const _PyInterpreterFrame *f = (const _PyInterpreterFrame *)((const char *)object + IDENTITY_FRAME);
	bool begun = true;

	if (!identity_of(object, &begun) || begun)
		return false;
	*code = (PyObject *)(*(const uintptr_t *)f & IDENTITY_CODE);
	*globals = f->f_globals;
	return true;
}

PyObject *identity_of_caller(PyObject *module, PyObject *unused)
{
	const _PyInterpreterFrame *f = (const _PyInterpreterFrame *)identity_frame();
	uintptr_t object = f && f->owner == FRAME_OWNED_BY_GENERATOR ? (uintptr_t)f - IDENTITY_FRAME : 0;

	(void)module, (void)unused;
	return PyLong_FromUnsignedLongLong(object >> IDENTITY_ADDRESS);
}
