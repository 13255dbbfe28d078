/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "names.h"

#include "shared/marker.h"
#include "table.h"

static uint32_t write_name(const char *kind, PyObject *name)
{
	uint32_t id = table_next_id();
	struct text t = { 0 };

	if (!id)
		return 0;
	text_printf(&t, "{\"kind\":\"%s\",\"id\":%u,\"name\":", kind, id);
	text_value(&t, name);
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
	if (!kept)
		PyErr_Clear();
	return kept;
}

static uint32_t id_of(PyObject *ids, const char *kind, PyObject *name, uint32_t session, Py_ssize_t most)
{
	PyObject *kept = kept_of(ids, name);
	unsigned long long there = kept ? PyLong_AsUnsignedLongLong(kept) : 0;
	uint32_t id;

	Py_XDECREF(kept);
	if (there && there >> 24 == session)
		return there & MARKER_CODE_MAX;
	if (most && PyDict_GET_SIZE(ids) >= most)
		return 0;
	id = write_name(kind, name);
	kept = id ? PyLong_FromUnsignedLongLong((unsigned long long)session << 24 | id) : NULL;
	if (kept)
		PyDict_SetItem(ids, name, kept);
	Py_XDECREF(kept);
	PyErr_Clear();
	return id;
}

uint32_t names_id(PyObject *ids, const char *kind, PyObject *name, uint32_t session)
{
	return id_of(ids, kind, name, session, 0);
}

uint32_t names_few(PyObject *ids, const char *kind, PyObject *name, uint32_t session)
{
	return id_of(ids, kind, name, session, NAMES_FEW);
}
