/* SPDX-License-Identifier: MIT */
/* trigger.c - see trigger.h. */
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "shared/ticks.h"
#include "snapshot.h"
#include "trigger.h"
#include "shared/array.h"

#define TRIGGERS_MAX 64 /* bits of a set of triggers */

struct trigger {
	char *kind;	/* "call", "slow call", "lag", "slow task": the snapshot's trigger */
	char *module;	/* or a glob of file names (filter.h) */
	char *qualname; /* or, of tasks, a glob of names */
	uint64_t ticks; /* 0: on the call */
	char **names;	/* of the requested arguments and locals; ends with NULL */
	atomic_bool matched;
};

/* A session's. Its strings stay while a thread is using them, though another session may have begun. */
struct trigger_set {
	struct trigger all[TRIGGERS_MAX];
	unsigned int n;
	double ticks_per_ms;
	unsigned int users; /* the session is one; with the process lock */
};

/* A call that a slow trigger waits for. */
struct open_call {
	const void *frame;
	uint64_t tsc;
};

/* With the process lock. */
static struct {
	struct trigger_set *now; /* NULL: none */
	struct open_call *open;
	size_t nopen, room;
} triggers;

static void clear(struct trigger *t)
{
	for (char **name = t->names; name && *name; name++)
		free(*name);
	free(t->names);
	free(t->kind);
	free(t->module);
	free(t->qualname);
}

/* NULL: there are no triggers. */
static struct trigger_set *borrow(void)
{
	struct trigger_set *set;

	process_lock();
	set = triggers.now;
	if (set)
		set->users++;
	process_unlock();
	return set;
}

static void give_back(struct trigger_set *set)
{
	bool last;

	if (!set)
		return;
	process_lock();
	last = !--set->users;
	process_unlock();
	if (!last)
		return;
	while (set->n)
		clear(&set->all[--set->n]);
	free(set);
}

static char **copy_names(PyObject *tuple)
{
	Py_ssize_t n = PyTuple_GET_SIZE(tuple);
	char **names = calloc((size_t)n + 1, sizeof(*names));

	for (Py_ssize_t i = 0; names && i < n; i++) {
		const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, i));

		names[i] = name ? strdup(name) : NULL;
	}
	return names;
}

static int add(struct trigger_set *set, PyObject *row)
{
	struct trigger *t = &set->all[set->n];
	const char *kind, *module, *qualname;
	unsigned long long ticks;
	PyObject *names;

	if (set->n == TRIGGERS_MAX) {
		PyErr_SetString(PyExc_ValueError, "ocular: too many triggers");
		return -1;
	}
	if (!PyArg_ParseTuple(row, "sssKO!", &kind, &module, &qualname, &ticks, &PyTuple_Type, &names))
		return -1;
	*t = (struct trigger){ strdup(kind), strdup(module), strdup(qualname), ticks, copy_names(names) };
	set->n++;
	if (t->kind && t->module && t->qualname && t->names)
		return 0;
	PyErr_NoMemory();
	return -1;
}

/* From now on, instead of those before: of their calls none is open any more. NULL: none. */
static void use(struct trigger_set *set)
{
	struct trigger_set *had;

	process_lock();
	had = triggers.now;
	triggers.now = set;
	triggers.nopen = 0;
	process_unlock();
	give_back(had);
}

PyObject *trigger_set(PyObject *module, PyObject *args)
{
	struct trigger_set *set;
	unsigned long long tsc_hz;
	PyObject *list;
	int err = 0;

	if (!PyArg_ParseTuple(args, "O!K", &PyList_Type, &list, &tsc_hz))
		return NULL;
	set = calloc(1, sizeof(*set));
	if (!set)
		return PyErr_NoMemory();
	set->users = 1;
	set->ticks_per_ms = (double)tsc_hz / 1000;
	for (Py_ssize_t i = 0; !err && i < PyList_GET_SIZE(list); i++)
		err = add(set, PyList_GET_ITEM(list, i));
	if (err) {
		give_back(set);
		return NULL;
	}
	use(set);
	Py_RETURN_NONE;
}

static bool is_of_tasks(const struct trigger *t)
{
	return !strcmp(t->kind, "slow task");
}

uint64_t triggers_of(const struct module_names *module, PyCodeObject *code)
{
	struct trigger_set *now = borrow();
	const char *file, *qualname;
	uint64_t set = 0;

	if (!now)
		return 0;
	file = PyUnicode_AsUTF8(code->co_filename);
	qualname = PyUnicode_AsUTF8(code->co_qualname);
	PyErr_Clear();
	for (unsigned int i = 0; qualname && i < now->n; i++) {
		struct trigger *t = &now->all[i];

		if (is_of_tasks(t) || strcmp(t->qualname, qualname) || !filter_is(t->module, file ? file : "", module))
			continue;
		t->matched = true;
		set |= 1ull << i;
	}
	give_back(now);
	return set;
}

static int add_unmatched(const struct trigger_set *set, PyObject *list)
{
	for (unsigned int i = 0; i < set->n; i++) {
		const struct trigger *t = &set->all[i];
		PyObject *row;

		if (t->matched || !strcmp(t->kind, "lag")) /* no trigger names that function */
			continue;
		if (is_of_tasks(t))
			row = Py_BuildValue("(ss)", "trigger-task", t->qualname);
		else
			row = Py_BuildValue("(sN)", "trigger", PyUnicode_FromFormat("%s:%s", t->module, t->qualname));
		if (!row || PyList_Append(list, row)) {
			Py_XDECREF(row);
			return -1;
		}
		Py_DECREF(row);
	}
	return 0;
}

int triggers_unmatched(PyObject *list)
{
	struct trigger_set *set = borrow();
	int err = set ? add_unmatched(set, list) : 0;

	give_back(set);
	return err;
}

/* The entry of that frame's open call, or NULL. Few are open at a time. */
static struct open_call *find(const void *frame)
{
	for (size_t i = 0; i < triggers.nopen; i++)
		if (triggers.open[i].frame == frame)
			return &triggers.open[i];
	return NULL;
}

static void remember(const void *frame)
{
	struct open_call *call;

	process_lock();
	call = find(frame);
	if (!call && ARRAY_ROOM(triggers.open, triggers.nopen, triggers.room))
		call = &triggers.open[triggers.nopen++];
	if (call) /* the previous one at this address ended unseen: the entry is reused */
		*call = (struct open_call){ frame, ticks_now() };
	process_unlock();
}

/* How long the ending call took, in ticks; 0 if its beginning was not seen. */
static uint64_t forget(const void *frame)
{
	struct open_call *call;
	uint64_t ticks = 0;

	process_lock();
	call = find(frame);
	if (call) {
		ticks = ticks_now() - call->tsc;
		*call = triggers.open[--triggers.nopen];
	}
	process_unlock();
	return ticks;
}

static void add_locals(struct text *text, const struct trigger *t, PyFrameObject *frame)
{
	bool more = true;

	for (char **name = t->names; more && name && *name; name++) {
		PyObject *key = PyUnicode_FromString(*name);
		PyObject *value = key ? PyFrame_GetVar(frame, key) : NULL;

		PyErr_Clear();
		if (key)
			more = snapshot_member(text, key, value ? value : Py_None);
		Py_XDECREF(value);
		Py_XDECREF(key);
	}
}

static void fire(const struct trigger_set *set, const struct trigger *t, PyFrameObject *frame, uint64_t ticks)
{
	struct text text = { 0 };
	PyObject *label = PyUnicode_FromFormat("%s:%s", t->module, t->qualname);
	uint64_t tsc = ticks_now();

	if (!label) {
		PyErr_Clear();
		return;
	}
	snapshot_begin(&text, t->kind, label);
	if (ticks)
		text_printf(&text, "\"ms\":%.3f", (double)ticks / set->ticks_per_ms);
	add_locals(&text, t, frame);
	snapshot_send(&text, tsc);
	Py_DECREF(label);
}

/* Those that wait for the end of a call. */
static uint64_t slow_of(const struct trigger_set *set, uint64_t named)
{
	uint64_t slow = 0;

	for (uint64_t left = named; left; left &= left - 1)
		if (set->all[__builtin_ctzll(left)].ticks)
			slow |= left & -left;
	return slow;
}

static void fire_all(const struct trigger_set *set, uint64_t named, PyFrameObject *frame, uint64_t ticks)
{
	for (; named; named &= named - 1) {
		const struct trigger *t = &set->all[__builtin_ctzll(named)];

		if (ticks >= t->ticks)
			fire(set, t, frame, ticks);
	}
}

static void see(const struct trigger_set *set, uint64_t named, enum marker_op op)
{
	bool starts = op == OP_PY_START, ends = op == OP_PY_RETURN || op == OP_PY_UNWIND;
	uint64_t slow = slow_of(set, named);
	PyFrameObject *frame;

	if (!snapshot_listening() || !(starts || (ends && slow)))
		return;
	frame = PyThreadState_GetFrame(PyThreadState_Get());
	if (!frame)
		return;
	if (starts)
		fire_all(set, named & ~slow, frame, 0);
	if (starts && slow)
		remember(frame);
	if (ends)
		fire_all(set, slow, frame, forget(frame));
	Py_DECREF(frame);
}

void triggers_see(uint64_t named, enum marker_op op)
{
	struct trigger_set *set = borrow();

	if (set)
		see(set, named, op);
	give_back(set);
}

static void fire_task(const struct trigger_set *set, const struct trigger *t, PyObject *name, uint64_t ticks)
{
	struct text text = { 0 };
	uint64_t tsc = ticks_now();

	snapshot_begin(&text, t->kind, name);
	text_printf(&text, "\"ms\":%.3f", (double)ticks / set->ticks_per_ms);
	snapshot_send(&text, tsc);
}

void triggers_task(PyObject *name, uint64_t ticks)
{
	struct trigger_set *set = snapshot_listening() ? borrow() : NULL;
	const char *text = set ? PyUnicode_AsUTF8(name) : NULL;

	PyErr_Clear();
	for (unsigned int i = 0; text && i < set->n; i++) {
		struct trigger *t = &set->all[i];

		if (!is_of_tasks(t) || fnmatch(t->qualname, text, 0))
			continue;
		t->matched = true;
		if (ticks >= t->ticks)
			fire_task(set, t, name, ticks);
	}
	give_back(set);
}

void trigger_stop(void)
{
	use(NULL);
}
