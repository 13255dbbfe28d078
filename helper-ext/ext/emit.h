/* SPDX-License-Identifier: MIT */
/*
 * emit.h - the callables that sys.monitoring calls: one marker each.
 *
 * A callback is bound to one event kind. It is called by vectorcall, so CPython passes its argument array as it is; a
 * Python function, or an ordinary built-in, costs 3 to 40 ns more.
 */
#ifndef OCULAR_EMIT_H
#define OCULAR_EMIT_H

#include <Python.h>

#include "callback.h"

extern PyType_Spec emit_spec;

/*
 * A callback for marker op `op`; codes is borrowed and outlives it. `disable` is what it returns at locations whose
 * events it no longer needs: sys.monitoring.DISABLE, or None where that is not allowed.
 */
PyObject *emit_new(PyTypeObject *type, struct codes *codes, enum marker_op op, enum emit_shape shape,
		   PyObject *disable);

#endif
