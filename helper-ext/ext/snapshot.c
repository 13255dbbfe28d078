/* SPDX-License-Identifier: MIT */
/* snapshot.c - see snapshot.h. Sends members of a JSON object; the recorder adds its own. */
#include <stdatomic.h>
#include <stdlib.h>

#include "lane.h"
#include "recorder.h"
#include "rings.h"
#include "setup.h"
#include "snapshot.h"
#include "text.h"

#define STACK_MAX 40 /* frames included, innermost first */
#define LABEL_MAX 200
#define DATA_MAX  (RING_TEXT_MAX / 2) /* maximum bytes, roughly */

_Static_assert(DATA_MAX + TEXT_BEYOND <= RING_TEXT_MAX, "data always fit into a message");

static atomic_bool listening;

const char snapshot_doc[] =
	"take_snapshot(label, **data)\n--\n\n"
	"Keep the last moments before this call, if the program runs under a flight recorder\n"
	"(ocular record --flight); else do nothing, in a few nanoseconds. The label and the data\n"
	"travel into the recording: numbers, strings, lists and dicts as they are, others as repr().\n"
	"Returns True if a recorder was asked.";

void snapshot_listen(bool on)
{
	atomic_store_explicit(&listening, on, memory_order_relaxed);
}

bool snapshot_listening(void)
{
	return atomic_load_explicit(&listening, memory_order_relaxed);
}

static bool has_json(PyObject *v)
{
	return v == Py_None || PyUnicode_Check(v) || PyLong_Check(v) || PyFloat_Check(v) || PyList_Check(v) ||
	       PyTuple_Check(v) || PyDict_Check(v);
}

/* A value from the user. repr() runs the user's code and may fail: then null. */
static void add_value(struct text *t, PyObject *value)
{
	PyObject *repr = has_json(value) ? NULL : PyObject_Repr(value);

	PyErr_Clear();
	text_value(t, repr ? repr : value);
	Py_XDECREF(repr);
}

bool snapshot_member(struct text *t, PyObject *key, PyObject *value)
{
	bool more = text_key(t, key);

	if (more)
		add_value(t, value);
	return more;
}

/* Ocular's own are skipped: what a trigger runs is not where the program was. */
static void add_frame(struct text *t, PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	const char *file = PyUnicode_AsUTF8(code->co_filename);
	PyObject *place = PyUnicode_FromFormat("%U (%U:%d)", code->co_qualname, code->co_filename,
					       PyFrame_GetLineNumber(frame));

	if (place && !(file && setup_is_own(file))) {
		text_comma(t);
		text_str(t, place);
	}
	Py_XDECREF(place);
	Py_DECREF(code);
}

static void add_stack(struct text *t)
{
	PyFrameObject *back, *frame = PyThreadState_GetFrame(PyThreadState_Get());

	text_printf(t, ",\"stack\":[");
	for (int i = 0; frame && i < STACK_MAX; i++) {
		add_frame(t, frame);
		back = PyFrame_GetBack(frame);
		Py_DECREF(frame);
		frame = back;
	}
	Py_XDECREF(frame);
	text_add(t, "]", 1);
	PyErr_Clear();
}

/* With the stack, if one message holds both. */
bool snapshot_send(struct text *t, uint64_t tsc)
{
	char *dir = rings_where();
	size_t stack;
	int err;

	text_add(t, "}", 1);
	stack = t->length;
	add_stack(t);
	if (t->length > RING_TEXT_MAX)
		t->length = stack;
	err = t->failed || !dir ? -1 : recorder_snapshot(dir, tsc, t->bytes, t->length);
	free(dir);
	text_free(t);
	return !err;
}

void snapshot_begin(struct text *t, const char *trigger, PyObject *label)
{
	PyObject *str = PyObject_Str(label); /* the user's code, which may fail */
	PyObject *cut = str ? PyUnicode_Substring(str, 0, LABEL_MAX) : NULL;

	text_printf(t, "\"trigger\":\"%s\",\"label\":", trigger);
	if (cut)
		text_str(t, cut);
	else
		text_add(t, "\"?\"", 3);
	PyErr_Clear();
	Py_XDECREF(cut);
	Py_XDECREF(str);
	text_printf(t, ",\"data\":{");
	t->limit = DATA_MAX;
}

/* One of the names of arguments; `given` if it is not among them. */
static Py_ssize_t find_label(PyObject *names, Py_ssize_t given)
{
	Py_ssize_t i = 0;

	while (i < given && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "label"))
		i++;
	return i;
}

static __attribute__((noinline, cold)) PyObject *take(PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
	uint64_t tsc = lane_stamp();
	Py_ssize_t given = names ? PyTuple_GET_SIZE(names) : 0;
	Py_ssize_t named = find_label(names, given);
	struct text t = { 0 };

	if (nargs + (named < given) != 1) {
		PyErr_SetString(PyExc_TypeError, "take_snapshot(label, **data): one label is needed");
		return NULL;
	}
	snapshot_begin(&t, "take_snapshot", args[nargs ? 0 : named]);
	for (Py_ssize_t i = 0; i < given; i++)
		if (i != named && !snapshot_member(&t, PyTuple_GET_ITEM(names, i), args[nargs + i]))
			break;
	return PyBool_FromLong(snapshot_send(&t, tsc));
}

PyObject *snapshot_take(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
	if (__builtin_expect(!snapshot_listening(), 1))
		Py_RETURN_FALSE;
	return take(args, nargs, names);
}

const char snapshot_fire_doc[] =
	"fire($module, trigger, label, data, /)\n--\n\n"
	"A trigger, named by its kind, has seen what it looks for: as take_snapshot(label, **data), with its name.";

PyObject *snapshot_fire(PyObject *module, PyObject *args)
{
	uint64_t tsc = lane_stamp();
	PyObject *label, *members, *key, *value;
	const char *trigger;
	struct text t = { 0 };
	Py_ssize_t at = 0;

	if (!PyArg_ParseTuple(args, "sUO!", &trigger, &label, &PyDict_Type, &members))
		return NULL;
	if (!snapshot_listening())
		Py_RETURN_FALSE;
	snapshot_begin(&t, trigger, label);
	while (PyDict_Next(members, &at, &key, &value) && snapshot_member(&t, key, value))
		;
	return PyBool_FromLong(snapshot_send(&t, tsc));
}
