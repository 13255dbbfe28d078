/* SPDX-License-Identifier: MIT */
/* labels.c - see labels.h. */
#include "keywords.h"
#include "labels.h"

#include <stddef.h>
#include <string.h>

#include "c_api.h"
#include "lane.h"
#include "names.h"
#include "table.h"
#include "trigger.h"

#define ALIGNED	    4 /* low bits of an object's address that are 0 */
#define SPAN_VALUES 4 /* there is room for, at least */
#ifdef Py_GIL_DISABLED
#define SPARES_MAX 0 /* any thread may end one, and another begin one */
#else
#define SPARES_MAX 16
#endif

struct span {
	PyObject_VAR_HEAD struct labels *labels; /* the module's, which the type keeps alive */
	union {
		PyObject *name;
		struct span *next; /* of a spare one */
	};
	uint64_t begun;	     /* a request's, by the clock; 0: it has not */
	_Atomic uint64_t id; /* session << 24 | its name's, or 0: what has begun need not look that up to end */
	PyObject *keys;	     /* tuple, or NULL */
	PyObject *values[];  /* as many */
};

bool labels_heard(const struct labels *l)
{
	return l->codes->listening;
}

void labels_write(const struct labels *l, uint32_t session, const uint64_t *words, unsigned int n)
{
	struct codes *c = l->codes;
	struct lane *lane;

	if (c->session == session && c->window == LANE_ALWAYS && lane_append(c->interpreter, c->view, words, n))
		return;
	lane = codes_lane(c, session, n);
	for (unsigned int i = 0; lane && i < n; i++)
		lane_write(lane, words[i]);
}

void labels_write_counter(const struct labels *l, uint32_t session, uint32_t id, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	labels_write(l, session,
		     (uint64_t[]){ marker_extension(0, KIND_VALUE, bits >> MARKER_LABEL_LOW),
				   marker_label(LABEL_COUNTER, id, bits) },
		     2);
}

/* As a line of the table. No id is left, or no memory: nothing. */
static void take_whole(struct values *v, PyObject *keys, PyObject *const *values)
{
	PyObject *data = keywords_dict(values, keys);
	uint32_t id = data ? table_next_id() : 0;
	struct text t = { .limit = LABELS_DATA_MAX };

	v->n = 0;
	if (id) {
		text_printf(&t, "{\"kind\":\"data\",\"id\":%u,\"data\":", id);
		text_value(&t, data);
		text_add(&t, "}", 1);
		table_write(&t);
		text_free(&t);
		v->words[v->n++] = marker_value(VALUE_DATA, id);
	}
	PyErr_Clear();
	Py_XDECREF(data);
}

/* keys: a tuple, or NULL. */
static void say(struct labels *l, uint32_t session, uint64_t label, PyObject *keys, PyObject *const *values)
{
	struct values v;

	if (!keys) {
		labels_write(l, session, &label, 1);
		return;
	}
	if (!values_take(&v, &l->values, keys, values, session))
		take_whole(&v, keys, values);
	v.words[v.n++] = label;
	labels_write(l, session, v.words, v.n);
}

/* A request is known by its object. */
static void say_request(const struct labels *l, enum subject what, PyObject *name, const void *which)
{
	uint32_t session = l->codes->session, id = 0;
	struct lane *lane;

	if (what == SUBJECT_REQUEST_BEGUN)
		id = names_id(&l->codes->names, name, session);
	lane = codes_lane(l->codes, session, 2);
	if (!lane)
		return;
	if (what == SUBJECT_REQUEST_BEGUN)
		lane_write(lane, marker_subject(SUBJECT_NAME, id));
	lane_write(lane, marker_subject(what, (uintptr_t)which >> ALIGNED));
}

/* A snapshot of it has its end, too. */
static void end_request(struct span *s)
{
	say_request(s->labels, SUBJECT_REQUEST_ENDED, s->name, s);
	if (s->begun)
		triggers_task(s->name, ticks_now() - s->begun);
}

static bool is_name(PyObject *name)
{
	if (PyUnicode_CheckExact(name))
		return true;
	PyErr_Format(PyExc_TypeError, "ocular: a name is a str, not %R", Py_TYPE(name));
	return false;
}

/* So many positional arguments, a name first. Of a type its whole name is given. */
static bool check(const char *function, PyObject *const *args, Py_ssize_t n, Py_ssize_t wanted)
{
	const char *dot;

	if (n == wanted)
		return is_name(args[0]);
	dot = strrchr(function, '.');
	PyErr_Format(PyExc_TypeError, "ocular: %s takes %zd positional argument%s, not %zd", dot ? dot + 1 : function,
		     wanted, wanted == 1 ? "" : "s", n);
	return false;
}

PyObject *labels_instant(struct labels *l, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
	uint32_t session = l->codes->session, id;

	if (!check("instant()", args, n, 1))
		return NULL;
	if (!labels_heard(l))
		Py_RETURN_NONE;
	id = names_id(&l->names, args[0], session);
	if (id)
		say(l, session, marker_label(LABEL_INSTANT, id, 0), names, args + n);
	Py_RETURN_NONE;
}

PyObject *labels_counter(struct labels *l, PyObject *const *args, Py_ssize_t n)
{
	uint32_t session = l->codes->session, id;
	double value;

	if (!check("counter()", args, n, 2))
		return NULL;
	if (!labels_heard(l))
		Py_RETURN_NONE;
	value = PyFloat_AsDouble(args[1]);
	if (value == -1 && PyErr_Occurred())
		return NULL;
	id = names_id(&l->names, args[0], session);
	if (id)
		labels_write_counter(l, session, id, value);
	Py_RETURN_NONE;
}

/* To free and to allocate one each time was half and more of what a span costs while nobody records (callgrind). */
static struct span *allocate(PyTypeObject *type, struct labels *l, Py_ssize_t n)
{
	struct span *s = l->spare;

	if (!s || n > SPAN_VALUES)
		return PyObject_NewVar(struct span, type, n > SPAN_VALUES ? n : SPAN_VALUES);
	l->spare = s->next;
	l->spares--;
	return (struct span *)PyObject_InitVar((PyVarObject *)s, type, SPAN_VALUES);
}

static void release(struct labels *l, struct span *s)
{
	if (l->spares >= SPARES_MAX || Py_SIZE(s) > SPAN_VALUES || !l->type) {
		PyObject_Free(s);
		return;
	}
	s->next = l->spare;
	l->spare = s;
	l->spares++;
}

static void free_spares(struct labels *l)
{
	while (l->spare) {
		struct span *s = l->spare;

		l->spare = s->next;
		PyObject_Free(s);
	}
}

/* NULL with an exception. */
static struct span *make(PyTypeObject *type, struct labels *l, PyObject *name, PyObject *keys, PyObject *const *values)
{
	Py_ssize_t n = keys ? PyTuple_GET_SIZE(keys) : 0;
	struct span *s = allocate(type, l, n);

	if (!s)
		return NULL;
	s->labels = l;
	s->name = Py_NewRef(name);
	s->begun = 0;
	atomic_init(&s->id, 0);
	s->keys = Py_XNewRef(keys);
	for (Py_ssize_t i = 0; i < n; i++)
		s->values[i] = Py_NewRef(values[i]);
	return s;
}

static PyObject *span_new(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *names)
{
	Py_ssize_t n = PyVectorcall_NARGS(nargsf);

	if (!check(((PyTypeObject *)type)->tp_name, args, n, 1))
		return NULL;
	return (PyObject *)make((PyTypeObject *)type, PyType_GetModuleState((PyTypeObject *)type), args[0], names,
				args + n);
}

/* Two threads that begin the same one may each look it up. 0: there is none. */
static uint32_t span_id(struct span *s, uint32_t session)
{
	uint64_t id = atomic_load_explicit(&s->id, memory_order_relaxed);

	if (!id || id >> 24 != session) {
		id = (uint64_t)session << 24 | names_id(&s->labels->names, s->name, session);
		atomic_store_explicit(&s->id, id, memory_order_relaxed);
	}
	return id & MARKER_CODE_MAX;
}

static void span_say(struct span *s, enum label_what what, PyObject *keys)
{
	uint32_t session = s->labels->codes->session, id = span_id(s, session);

	if (id)
		say(s->labels, session, marker_label(what, id, (uintptr_t)s >> ALIGNED), keys, s->values);
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
	struct span *s = (struct span *)self;

	if (!labels_heard(s->labels))
		return Py_NewRef(self);
	if (Py_TYPE(self) != s->labels->request) {
		span_say(s, LABEL_BEGIN, s->keys);
	} else {
		s->begun = ticks_now();
		say_request(s->labels, SUBJECT_REQUEST_BEGUN, s->name, s);
	}
	return Py_NewRef(self);
}

/* One that began before the session has an end only: the reader knows. */
static PyObject *span_exit(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	struct span *s = (struct span *)self;

	if (!labels_heard(s->labels))
		Py_RETURN_FALSE;
	if (Py_TYPE(self) == s->labels->request)
		end_request(s);
	else
		span_say(s, LABEL_END, NULL);
	Py_RETURN_FALSE;
}

/* One of its own for each call: calls may overlap, and are told apart by their spans. */
static PyObject *span_anew(PyObject *self, PyObject *unused)
{
	struct span *s = (struct span *)self;

	return (PyObject *)make(Py_TYPE(self), s->labels, s->name, s->keys, s->values);
}

/* A decorator. */
static PyObject *span_call(PyObject *self, PyObject *args, PyObject *options)
{
	PyObject *module = PyImport_ImportModule("ocular.decorator");
	PyObject *within = module ? PyObject_GetAttrString(module, "within") : NULL;
	PyObject *function, *made = NULL;

	if (within && PyArg_ParseTuple(args, "O", &function) && !options)
		made = PyObject_CallFunctionObjArgs(within, self, function, NULL);
	else if (within && options)
		PyErr_Format(PyExc_TypeError, "ocular: %s decorates a function", Py_TYPE(self)->tp_name);
	Py_XDECREF(within);
	Py_XDECREF(module);
	return made;
}

static void span_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	struct span *s = (struct span *)self;
	Py_ssize_t n = s->keys ? PyTuple_GET_SIZE(s->keys) : 0;

	Py_DECREF(s->name);
	for (Py_ssize_t i = 0; i < n; i++)
		Py_DECREF(s->values[i]);
	Py_XDECREF(s->keys);
	release(s->labels, s);
	Py_DECREF(type);
}

/* clang-format off */
static PyMethodDef span_methods[] = {
	{ "__enter__", span_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL, NULL },
	{ "_anew", span_anew, METH_NOARGS, NULL },
	{ NULL },
};

static PyType_Slot span_slots[] = {
	{ Py_tp_doc, (void *)
	  "span(name, /, **data)\n--\n\n"
	  "A part of the program's own: a `with` block, or each call of a function that it decorates.\n\n"
	  "with ocular.span(\"parse\"):          # or @ocular.span(\"parse\")\n"
	  "    parse(text)\n\n"
	  "It has a slice on the thread's track, and a row in the report and the summary. data goes with it:\n"
	  "numbers, texts, True, False, None and lists, tuples and dicts of them in 0.1 to 0.2 us. More than some 30\n"
	  "values take a write to the disk each time. While nobody records it takes little more than `with` itself." },
	{ Py_tp_call, span_call },
	{ Py_tp_dealloc, span_dealloc },
	{ Py_tp_methods, span_methods },
	{ 0, NULL },
};

static PyType_Slot request_slots[] = {
	{ Py_tp_doc, (void *)
	  "request(name, /)\n--\n\n"
	  "What is done for one request: a `with` block, or each call of a function that it decorates; async, too.\n\n"
	  "with ocular.request(\"GET /users\"):\n"
	  "    await respond()\n\n"
	  "The report says of the slowest ones where their time went: their own work, that of tasks and threads that\n"
	  "they waited for, and what they awaited. While nobody records it takes little more than `with` itself." },
	{ Py_tp_call, span_call },
	{ Py_tp_dealloc, span_dealloc },
	{ Py_tp_methods, span_methods },
	{ 0, NULL },
};

static PyType_Spec span_spec = {
	.name = "ocular.span",
	.basicsize = sizeof(struct span),
	.itemsize = sizeof(PyObject *),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = span_slots,
};

static PyType_Spec request_spec = {
	.name = "ocular.request",
	.basicsize = sizeof(struct span),
	.itemsize = sizeof(PyObject *),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = request_slots,
};
/* clang-format on */

int labels_open(PyObject *module, struct labels *l, struct codes *codes)
{
	l->codes = codes;
	l->type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &span_spec, NULL);
	l->request = (PyTypeObject *)PyType_FromModuleAndSpec(module, &request_spec, NULL);
	l->c_api = c_api_open(module, l);
	if (!l->type || !l->request || !l->c_api || names_open(&l->names, "label", 0) ||
	    names_open(&l->values.keys, "keys", NAMES_FEW) || names_open(&l->values.texts, "text", NAMES_FEW))
		return -1;
	/* a slot for that is only in CPython 3.14 and later */
	l->type->tp_vectorcall = l->request->tp_vectorcall = span_new;
	return PyModule_AddObjectRef(module, "span", (PyObject *)l->type)
		       ?: PyModule_AddObjectRef(module, "request", (PyObject *)l->request);
}

int labels_traverse(struct labels *l, visitproc visit, void *arg)
{
	Py_VISIT(l->type);
	Py_VISIT(l->request);
	return names_traverse(&l->names, visit, arg) ?: names_traverse(&l->values.keys, visit, arg)
		       ?: names_traverse(&l->values.texts, visit, arg);
}

void labels_clear(struct labels *l)
{
	c_api_close(l->c_api);
	l->c_api = NULL;
	Py_CLEAR(l->type);
	Py_CLEAR(l->request);
	free_spares(l);
	names_clear(&l->names);
	names_clear(&l->values.keys);
	names_clear(&l->values.texts);
}

void labels_forget(struct labels *l)
{
	names_forget(&l->names);
	names_forget(&l->values.keys);
	names_forget(&l->values.texts);
}
