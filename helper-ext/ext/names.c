/* SPDX-License-Identifier: MIT */
/* names.c - see names.h. */
#include "names.h"

#include "shared/marker.h"
#include "table.h"

#define ALIGNMENT 16 /* of objects */
#ifdef Py_GIL_DISABLED
#define MEETS false /* another thread may be replacing what was met */
#else
#define MEETS true
#endif

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

static uint64_t looked_up(struct names *n, PyObject *name)
{
	PyObject *kept = kept_of(n->ids, name);
	unsigned long long there = kept ? PyLong_AsUnsignedLongLong(kept) : 0;

	Py_XDECREF(kept);
	return there;
}

/* session << 24 | id, or 0. */
static uint64_t tell(struct names *n, PyObject *name, uint32_t session)
{
	uint32_t id = n->most && PyDict_GET_SIZE(n->ids) >= n->most ? 0 : write_name(n->kind, name);
	uint64_t there = id ? (uint64_t)session << 24 | id : 0;
	PyObject *kept = id ? PyLong_FromUnsignedLongLong(there) : NULL;

	if (kept)
		PyDict_SetItem(n->ids, name, kept);
	Py_XDECREF(kept);
	PyErr_Clear();
	return there;
}

static uint64_t found(struct names *n, PyObject *name, uint32_t session)
{
	uint64_t there = looked_up(n, name);

	return there && there >> 24 == session ? there : tell(n, name, session);
}

uint32_t names_id(struct names *n, PyObject *name, uint32_t session)
{
	struct name_met *m = &n->met[(uintptr_t)name / ALIGNMENT % NAMES_MET];

	if (!MEETS)
		return found(n, name, session) & MARKER_CODE_MAX;
	if (m->name != name || m->there >> 24 != session) {
		uint64_t there = found(n, name, session);

		if (!there)
			return 0;
		m->there = there;
		Py_XSETREF(m->name, Py_NewRef(name));
	}
	return m->there & MARKER_CODE_MAX;
}

int names_open(struct names *n, const char *kind, Py_ssize_t most)
{
	n->kind = kind;
	n->most = most;
	n->ids = PyDict_New();
	return n->ids ? 0 : -1;
}

int names_traverse(const struct names *n, visitproc visit, void *arg)
{
	Py_VISIT(n->ids);
	return 0;
}

static void forget_met(struct names *n)
{
	for (unsigned int i = 0; i < NAMES_MET; i++)
		Py_CLEAR(n->met[i].name);
}

void names_forget(struct names *n)
{
	forget_met(n);
	PyDict_Clear(n->ids);
}

void names_clear(struct names *n)
{
	forget_met(n);
	Py_CLEAR(n->ids);
}
