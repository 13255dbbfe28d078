/* SPDX-License-Identifier: MIT */
/* setup.c - see setup.h. */
#include <errno.h>

#include "process.h"
#include "setup.h"

struct setup setup;

static struct filter filter; /* the process lock's, except for what has matched */

bool setup_wants(const char *file, const struct module_names *module)
{
	bool wanted;

	process_lock();
	wanted = filter_wants(&filter, file, module);
	process_unlock();
	return wanted;
}

bool setup_is_own(const char *file)
{
	bool own;

	process_lock();
	own = filter_is_own(&filter, file);
	process_unlock();
	return own;
}

PyObject *setup_error(int err)
{
	errno = -err;
	return PyErr_SetFromErrno(PyExc_OSError);
}

PyObject *setup_bytes(PyObject *str)
{
	return PyUnicode_AsEncodedString(str, "utf-8", "surrogateescape");
}

static int set_patterns(struct patterns *p, PyObject *tuple)
{
	Py_ssize_t n = PyTuple_GET_SIZE(tuple), i;
	const char **list = PyMem_Calloc((size_t)n + 1, sizeof(*list));
	PyObject **bytes = PyMem_Calloc((size_t)n + 1, sizeof(*bytes));
	int err = list && bytes ? 0 : -ENOMEM;

	for (i = 0; !err && i < n; i++) {
		bytes[i] = setup_bytes(PyTuple_GET_ITEM(tuple, i));
		list[i] = bytes[i] ? PyBytes_AS_STRING(bytes[i]) : NULL;
		err = bytes[i] ? 0 : -EINVAL;
	}
	process_lock();
	err = err ?: patterns_set(p, list);
	process_unlock();
	while (i > 0)
		Py_XDECREF(bytes[--i]);
	PyMem_Free(bytes);
	PyMem_Free(list);
	return err;
}

PyObject *setup_filter(PyObject *module, PyObject *args)
{
	PyObject *include, *exclude, *own;
	int err;

	if (!PyArg_ParseTuple(args, "O!O!O!", &PyTuple_Type, &include, &PyTuple_Type, &exclude, &PyTuple_Type, &own))
		return NULL;
	err = set_patterns(&filter.include, include);
	err = err ? err : set_patterns(&filter.exclude, exclude);
	err = err ? err : set_patterns(&filter.own, own);
	setup.flow.wanted = false; /* an earlier session's */
	if (PyErr_Occurred())
		return NULL;
	return err ? setup_error(err) : Py_NewRef(Py_None);
}

static int add_unmatched(PyObject *list, const char *kind, const struct patterns *p)
{
	for (size_t i = 0; i < p->n; i++) {
		PyObject *row;

		if (p->matched[i])
			continue;
		row = Py_BuildValue("(sN)", kind, PyUnicode_DecodeFSDefault(p->v[i]));
		if (!row || PyList_Append(list, row)) {
			Py_XDECREF(row);
			return -1;
		}
		Py_DECREF(row);
	}
	return 0;
}

int setup_unmatched(PyObject *list)
{
	return add_unmatched(list, "include", &filter.include) || add_unmatched(list, "exclude", &filter.exclude) ? -1
														  : 0;
}

PyObject *setup_opcodes(PyObject *module, PyObject *args)
{
	struct opcode_tables ops = { 0 };
	Py_buffer caches, jump, instrumented;
	int fits;

	if (!PyArg_ParseTuple(args, "y*y*y*bbbb", &caches, &jump, &instrumented, &ops.extended_arg,
			      &ops.instrumented_line, &ops.instrumented_instruction, &ops.call_function_ex))
		return NULL;
	fits = caches.len == 256 && jump.len == 256 && instrumented.len == 256;
	if (fits) {
		memcpy(ops.caches, caches.buf, 256);
		memcpy(ops.jump, jump.buf, 256);
		memcpy(ops.instrumented, instrumented.buf, 256);
		if (memcmp(&setup.ops, &ops, sizeof(ops)))
			setup.ops = ops;
	}
	PyBuffer_Release(&caches);
	PyBuffer_Release(&jump);
	PyBuffer_Release(&instrumented);
	return fits ? Py_NewRef(Py_None) : setup_error(-EINVAL);
}

PyObject *setup_flow(PyObject *module, PyObject *args)
{
	struct flow_tables *f = &setup.flow;
	unsigned char for_skips;
	Py_buffer flow;
	int fits;

	if (!PyArg_ParseTuple(args, "y*b", &flow, &for_skips))
		return NULL;
	fits = flow.len == 256;
	if (fits && (f->for_skips != for_skips || memcmp(f->flow, flow.buf, 256))) {
		memcpy(f->flow, flow.buf, 256);
		f->for_skips = for_skips;
	}
	f->wanted = fits;
	PyBuffer_Release(&flow);
	return fits ? Py_NewRef(Py_None) : setup_error(-EINVAL);
}
