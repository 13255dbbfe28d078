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

#define ALIGNED 4 /* low bits of an object's address that are 0 */

struct span {
	PyObject base;
	struct labels *labels; /* the module's, which the type keeps alive */
	PyObject *name;
	PyObject *data; /* dict, or NULL */
	uint64_t begun; /* a request's, by the clock; 0: it has not */
};

static bool is_heard(const struct labels *l)
{
	return l->codes->listening;
}

/* Words that may have another before them, which belongs to them. */
void labels_write(const struct labels *l, uint32_t session, bool two, uint64_t value, uint64_t word)
{
	struct lane *lane = codes_lane(l->codes, session, two ? 2 : 1);

	if (!lane)
		return;
	if (two)
		lane_write(lane, marker_extension(0, KIND_VALUE, value));
	lane_write(lane, word);
}

void labels_write_counter(const struct labels *l, uint32_t session, uint32_t id, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	labels_write(l, session, true, bits >> MARKER_LABEL_LOW, marker_label(LABEL_COUNTER, id, bits));
}

/* The id of a line with the data; 0: there is none. */
static uint32_t write_data(PyObject *data)
{
	uint32_t id = data ? table_next_id() : 0;
	struct text t = { .limit = LABELS_DATA_MAX };

	if (!id)
		return 0;
	text_printf(&t, "{\"kind\":\"data\",\"id\":%u,\"data\":", id);
	text_value(&t, data);
	text_add(&t, "}", 1);
	table_write(&t);
	text_free(&t);
	return id;
}

static void say(const struct labels *l, enum label_what what, PyObject *name, PyObject *data, const void *which)
{
	uint32_t session = l->codes->session;
	uint32_t id = names_id(l->ids, "label", name, session), more = write_data(data);

	if (id)
		labels_write(l, session, more > 0, more, marker_label(what, id, (uintptr_t)which >> ALIGNED));
}

/* A request is known by its object. */
static void say_request(const struct labels *l, enum subject what, PyObject *name, const void *which)
{
	uint32_t session = l->codes->session, id = 0;
	struct lane *lane;

	if (what == SUBJECT_REQUEST_BEGUN)
		id = names_id(l->codes->names, "subject", name, session);
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

/* One positional argument, a name. */
static bool check(const char *function, PyObject *const *args, Py_ssize_t n, Py_ssize_t wanted)
{
	if (n == wanted)
		return is_name(args[0]);
	PyErr_Format(PyExc_TypeError, "ocular: %s takes %zd positional arguments, not %zd", function, wanted, n);
	return false;
}

PyObject *labels_instant(struct labels *l, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
	PyObject *data = NULL;

	if (!check("instant()", args, n, 1))
		return NULL;
	if (!is_heard(l))
		Py_RETURN_NONE;
	if (names && !(data = keywords_dict(args + n, names)))
		return NULL;
	say(l, LABEL_INSTANT, args[0], data, NULL);
	Py_XDECREF(data);
	Py_RETURN_NONE;
}

PyObject *labels_counter(struct labels *l, PyObject *const *args, Py_ssize_t n)
{
	uint32_t session = l->codes->session, id;
	double value;

	if (!check("counter()", args, n, 2))
		return NULL;
	if (!is_heard(l))
		Py_RETURN_NONE;
	value = PyFloat_AsDouble(args[1]);
	if (value == -1 && PyErr_Occurred())
		return NULL;
	id = names_id(l->ids, "label", args[0], session);
	if (id)
		labels_write_counter(l, session, id, value);
	Py_RETURN_NONE;
}

static PyObject *span_new(PyObject *type, PyObject *const *args, size_t nargsf, PyObject *names)
{
	Py_ssize_t n = PyVectorcall_NARGS(nargsf);
	struct span *s;

	if (!check(strrchr(((PyTypeObject *)type)->tp_name, '.') + 1, args, n, 1))
		return NULL;
	s = PyObject_New(struct span, (PyTypeObject *)type);
	if (!s)
		return NULL;
	s->labels = PyType_GetModuleState((PyTypeObject *)type);
	s->begun = 0;
	s->name = Py_NewRef(args[0]);
	s->data = names ? keywords_dict(args + n, names) : NULL;
	if (names && !s->data)
		Py_CLEAR(s);
	return (PyObject *)s;
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
	struct span *s = (struct span *)self;

	if (!is_heard(s->labels))
		return Py_NewRef(self);
	if (Py_TYPE(self) != s->labels->request) {
		say(s->labels, LABEL_BEGIN, s->name, s->data, s);
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

	if (!is_heard(s->labels))
		Py_RETURN_FALSE;
	if (Py_TYPE(self) == s->labels->request)
		end_request(s);
	else
		say(s->labels, LABEL_END, s->name, NULL, s);
	Py_RETURN_FALSE;
}

/* One of its own for each call: calls may overlap, and are told apart by their spans. */
static PyObject *span_anew(PyObject *self, PyObject *unused)
{
	struct span *s = (struct span *)self;
	struct span *anew = PyObject_New(struct span, Py_TYPE(self));

	if (!anew)
		return NULL;
	anew->begun = 0;
	anew->labels = s->labels;
	anew->name = Py_NewRef(s->name);
	anew->data = Py_XNewRef(s->data);
	return (PyObject *)anew;
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

	Py_XDECREF(((struct span *)self)->name);
	Py_XDECREF(((struct span *)self)->data);
	PyObject_Free(self);
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
	  "It has a slice on the thread's track, and a row in the report and the summary. data is written with it,\n"
	  "as JSON, up to 1 KiB: a line in the recording each time, so leave it out where that is often.\n"
	  "Without data it takes some 0.1 us; while nobody records, no more than `with` itself." },
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
	  "they waited for, and what they awaited. While nobody records it takes no more than `with` itself." },
	{ Py_tp_call, span_call },
	{ Py_tp_dealloc, span_dealloc },
	{ Py_tp_methods, span_methods },
	{ 0, NULL },
};

static PyType_Spec span_spec = {
	.name = "ocular.span",
	.basicsize = sizeof(struct span),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = span_slots,
};

static PyType_Spec request_spec = {
	.name = "ocular.request",
	.basicsize = sizeof(struct span),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = request_slots,
};
/* clang-format on */

int labels_open(PyObject *module, struct labels *l, struct codes *codes)
{
	l->codes = codes;
	l->ids = PyDict_New();
	l->type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &span_spec, NULL);
	l->request = (PyTypeObject *)PyType_FromModuleAndSpec(module, &request_spec, NULL);
	l->c_api = c_api_open(module, l);
	if (!l->ids || !l->type || !l->request || !l->c_api)
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
	Py_VISIT(l->ids);
	return 0;
}

void labels_clear(struct labels *l)
{
	c_api_close(l->c_api);
	l->c_api = NULL;
	Py_CLEAR(l->type);
	Py_CLEAR(l->request);
	Py_CLEAR(l->ids);
}
