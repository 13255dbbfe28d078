/* SPDX-License-Identifier: MIT */
/* c_api.c - see c_api.h. Nothing in here may leave an exception, or take one away. */
#include "c_api.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

struct c_name {
	struct ocular_name shown; /* first */
	struct c_api *api;
	struct c_name *next;
	PyObject *text;
	_Atomic uint64_t id; /* session << 24 | id; 0: it has none yet */
};

static const unsigned char nobody;

/* Are Python objects of the interpreter safe here? */
static bool is_attached(const struct c_api *api)
{
#if PY_VERSION_HEX >= 0x030d0000
	PyThreadState *t = PyThreadState_GetUnchecked();
#else
	PyThreadState *t = _PyThreadState_UncheckedGet();
#endif
	return t && t->interp == api->interpreter && api->labels;
}

static uint32_t new_id(struct c_name *n, uint32_t session)
{
	PyObject *pending = PyErr_GetRaisedException();
	uint32_t id = names_id(&n->api->labels->names, n->text, session);

	PyErr_SetRaisedException(pending);
	if (id)
		n->id = (uint64_t)session << 24 | id;
	return id;
}

/* 0: all are used up. */
static uint32_t id_of(struct c_name *n, uint32_t session)
{
	uint64_t id = atomic_load_explicit(&n->id, memory_order_relaxed);

	return id && id >> 24 == session ? id & MARKER_CODE_MAX : new_id(n, session);
}

static void say(struct ocular_name *name, enum ocular_what what, unsigned int which)
{
	static const enum label_what whats[] = {
		[OCULAR_INSTANT] = LABEL_INSTANT,
		[OCULAR_BEGIN] = LABEL_BEGIN,
		[OCULAR_END] = LABEL_END,
	};
	struct c_name *n = (struct c_name *)name;
	uint32_t session, id;
	uint64_t word;

	if (!is_attached(n->api))
		return;
	session = n->api->labels->codes->session;
	id = id_of(n, session);
	word = marker_label(whats[what], id, which);
	if (id)
		labels_write(n->api->labels, session, &word, 1);
}

static void count(struct ocular_name *name, double value)
{
	struct c_name *n = (struct c_name *)name;
	uint32_t session, id;

	if (!is_attached(n->api))
		return;
	session = n->api->labels->codes->session;
	id = id_of(n, session);
	if (id)
		labels_write_counter(n->api->labels, session, id, value);
}

static struct c_name *find(struct c_name *n, const char *text)
{
	for (; n; n = n->next) {
		const char *known = PyUnicode_AsUTF8(n->text);

		if (known && !strcmp(known, text))
			break;
	}
	return n;
}

static void add(struct c_api *api, struct c_name *n)
{
	n->next = __atomic_load_n(&api->names, __ATOMIC_ACQUIRE);
	while (!__atomic_compare_exchange_n(&api->names, &n->next, n, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		;
}

static struct ocular_name *name_of(struct ocular_api *shown, const char *text)
{
	struct c_api *api = (struct c_api *)shown;
	struct c_name *n = api->labels ? find(__atomic_load_n(&api->names, __ATOMIC_ACQUIRE), text) : NULL;
	PyObject *copy = n || !api->labels ? NULL : PyUnicode_DecodeUTF8(text, strlen(text), "replace");

	if (copy && (n = calloc(1, sizeof(*n)))) {
		n->shown = (struct ocular_name){ (const unsigned char *)&api->labels->codes->listening, say, count };
		n->api = api;
		n->text = Py_NewRef(copy);
		add(api, n);
	}
	Py_XDECREF(copy);
	PyErr_Clear();
	return n ? &n->shown : NULL;
}

struct c_api *c_api_open(PyObject *module, struct labels *l)
{
	struct c_api *api = calloc(1, sizeof(*api));
	PyObject *capsule = NULL;

	if (!api)
		return (struct c_api *)PyErr_NoMemory();
	*api = (struct c_api){ .shown = { OCULAR_API_VERSION, name_of },
			       .labels = l,
			       .interpreter = PyInterpreterState_Get() };
	capsule = PyCapsule_New(api, OCULAR_API, NULL);
	if (!capsule || PyModule_AddObjectRef(module, strrchr(OCULAR_API, '.') + 1, capsule)) {
		free(api);
		api = NULL;
	}
	Py_XDECREF(capsule);
	return api;
}

void c_api_close(struct c_api *api)
{
	if (!api)
		return;
	for (struct c_name *n = api->names; n; n = n->next) {
		n->shown.recording = &nobody;
		Py_CLEAR(n->text);
	}
	api->labels = NULL;
}
