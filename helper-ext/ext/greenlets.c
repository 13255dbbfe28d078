// SPDX-License-Identifier: MIT
/* greenlets.c - see greenlets.h. Nothing in here may fail loudly: greenlet would raise it in the program. */
#include "greenlets.h"

#include <stdint.h>

#include "table.h"
#include "world.h"

#define ALIGNED 4 /* low bits of an object's address that are 0 */

/* greenlet's C API (greenlet.h, since greenlet 2). */
enum { API_GETCURRENT = 4, API_MAIN = 8, API_STARTED, API_ACTIVE };

/* What a function of ours has in its tuple. */
enum { OF_MODULE, OF_CODES, OF_SETTRACE, OF_PREVIOUS, OF_SESSION, OF_ALL };

static bool is(const struct greenlets *g, int number, PyObject *greenlet)
{
	return ((int (*)(PyObject *))g->api[number])(greenlet);
}

static void write_words(const struct codes *c, uint64_t first, uint64_t second)
{
	struct lane *l = lane_open(c->interpreter, c->view, c->window, 2);

	if (!l)
		return;
	lane_write(l, first);
	lane_write(l, second);
}

static uint64_t word(enum subject what, const PyObject *greenlet)
{
	return marker_subject(what, (uintptr_t)greenlet >> ALIGNED);
}

/* Both are told each time, so that a reader knows what was running even after a loss. */
static void write_switch(const struct codes *c, PyObject *from, PyObject *to)
{
	const struct greenlets *g = c->greenlets;
	bool ended = is(g, API_STARTED, from) && !is(g, API_ACTIVE, from);

	write_words(c, word(ended ? SUBJECT_GREENLET_ENDED : SUBJECT_GREENLET, from), word(SUBJECT_GREENLET, to));
}

/* Takes the function of this tuple away, unless another one has taken its place. -1 with an exception. */
static int give_back(PyObject *of)
{
	PyObject *settrace = PyTuple_GET_ITEM(of, OF_SETTRACE);
	PyObject *now = PyObject_CallOneArg(settrace, PyTuple_GET_ITEM(of, OF_PREVIOUS)), *back = NULL;

	if (now && (!PyCFunction_Check(now) || PyCFunction_GET_SELF(now) != of))
		back = PyObject_CallOneArg(settrace, now);
	else if (now)
		back = Py_NewRef(now);
	Py_XDECREF(now);
	Py_XDECREF(back);
	return back ? 0 : -1;
}

static bool is_heard(const struct codes *c, PyObject *of)
{
	return c->listening && PyLong_AsUnsignedLong(PyTuple_GET_ITEM(of, OF_SESSION)) == c->session;
}

/* greenlet calls it in the greenlet that runs from here on: event, (from, to). */
static PyObject *switched(PyObject *of, PyObject *const *args, Py_ssize_t n)
{
	const struct codes *c = PyLong_AsVoidPtr(PyTuple_GET_ITEM(of, OF_CODES));
	PyObject *previous = PyTuple_GET_ITEM(of, OF_PREVIOUS);

	if (!is_heard(c, of)) {
		if (give_back(of))
			PyErr_Clear();
	} else if (n == 2 && PyTuple_Check(args[1]) && PyTuple_GET_SIZE(args[1]) == 2) {
		write_switch(c, PyTuple_GET_ITEM(args[1], 0), PyTuple_GET_ITEM(args[1], 1));
	}
	return previous == Py_None ? Py_NewRef(Py_None) : PyObject_Vectorcall(previous, args, n, NULL);
}

static PyMethodDef switched_def = { "switched", (PyCFunction)(void (*)(void))switched, METH_FASTCALL, NULL };

/* The tuple of a function of ours, of whatever session; NULL: it is another's. */
static PyObject *tuple_of(PyObject *function)
{
	if (!PyCFunction_Check(function) || PyCFunction_GET_FUNCTION(function) != switched_def.ml_meth)
		return NULL;
	return PyCFunction_GET_SELF(function);
}

static bool is_ours(const struct codes *c, PyObject *function)
{
	PyObject *of = tuple_of(function);

	return of && is_heard(c, of);
}

/* A function of ours that is called instead of `previous`, and calls it. */
static PyObject *function_of(const struct codes *c, PyObject *previous)
{
	PyObject *codes = PyLong_FromVoidPtr((void *)c), *session = PyLong_FromUnsignedLong(c->session);
	PyObject *older = tuple_of(previous);
	PyObject *of = codes && session ? PyTuple_Pack(OF_ALL, c->greenlets->module, codes, c->greenlets->settrace,
						       older ? PyTuple_GET_ITEM(older, OF_PREVIOUS) : previous, session)
					: NULL;
	PyObject *function = of ? PyCFunction_New(&switched_def, of) : NULL;

	Py_XDECREF(codes);
	Py_XDECREF(session);
	Py_XDECREF(of);
	return function;
}

/* It runs something that the program did not begin with: what is open may be another greenlet's. */
static void write_current(const struct codes *c, bool continues)
{
	PyObject *now = ((PyObject * (*)(void)) c->greenlets->api[API_GETCURRENT])();

	if (now && !is(c->greenlets, API_MAIN, now))
		write_words(c, word(SUBJECT_GREENLET, continues ? NULL : now), word(SUBJECT_GREENLET, now));
	Py_XDECREF(now);
}

/* Puts a function of ours before the one that is there, if that is not ours. */
static int follow(const struct codes *c, bool continues)
{
	PyObject *settrace = c->greenlets->settrace;
	PyObject *previous = PyObject_CallOneArg(settrace, Py_None), *ours, *done;
	bool there = previous && is_ours(c, previous);

	ours = !previous ? NULL : there ? Py_NewRef(previous) : function_of(c, previous);
	done = previous ? PyObject_CallOneArg(settrace, ours ? ours : previous) : NULL;
	if (done && ours && !there)
		write_current(c, continues);
	Py_XDECREF(previous);
	Py_XDECREF(ours);
	Py_XDECREF(done);
	return done && ours ? 0 : -1;
}

void greenlets_follow(const struct codes *c, bool continues)
{
	if (__atomic_load_n(&c->greenlets->settrace, __ATOMIC_ACQUIRE) && c->listening && follow(c, continues))
		PyErr_Clear();
}

void greenlets_end(const struct codes *c)
{
	PyObject *settrace = c->greenlets->settrace;
	PyObject *now = settrace ? PyObject_CallOneArg(settrace, Py_None) : NULL;
	PyObject *back = now;

	if (now && is_ours(c, now))
		back = PyTuple_GET_ITEM(PyCFunction_GET_SELF(now), OF_PREVIOUS);
	if (now)
		Py_XDECREF(PyObject_CallOneArg(settrace, back));
	Py_XDECREF(now);
	PyErr_Clear();
}

/* Its switches are not told. */
static void write_untold(void)
{
	struct text t = { 0 };

	text_printf(&t, "{\"kind\":\"greenlets\",\"told\":false}");
	table_write(&t);
	text_free(&t);
}

static PyObject *item(PyObject *module, const char *name)
{
	return PyDict_GetItemString(PyModule_GetDict(module), name);
}

/* Has the loaded module all that we need? */
static bool take(struct greenlets *g, PyObject *module)
{
	PyObject *settrace = item(module, "settrace"), *use = item(module, "GREENLET_USE_TRACING");
	PyObject *api = item(module, "_C_API");

	if (!settrace || !api || !PyCapsule_CheckExact(api) || (use && PyObject_IsTrue(use) != 1))
		return false;
	g->api = PyCapsule_GetPointer(api, PyCapsule_GetName(api));
	if (!g->settrace && g->api)
		__atomic_store_n(&g->settrace, Py_NewRef(settrace), __ATOMIC_RELEASE);
	return g->api;
}

static void meet(void *codes)
{
	lanes_meet(((const struct codes *)codes)->interpreter);
}

void greenlets_look(const struct codes *c)
{
	struct greenlets *g = c->greenlets;
	PyObject *module;

	if (__atomic_load_n(&g->seen, __ATOMIC_RELAXED))
		return;
	module = PyImport_GetModule(g->name);
	PyErr_Clear();
	if (module && PyModule_Check(module) && !__atomic_exchange_n(&g->seen, true, __ATOMIC_RELAXED)) {
		if (take(g, module))
			world_stop(meet, (void *)c);
		else
			write_untold();
		PyErr_Clear();
	}
	Py_XDECREF(module);
}

void greenlets_loaded(struct codes *c, uint32_t session, PyObject *value, bool shown)
{
	(void)session, (void)value;
	greenlets_look(c);
}

void greenlets_begin(struct greenlets *g)
{
	g->seen = false;
}

int greenlets_open(PyObject *module, struct greenlets *g)
{
	g->module = module;
	g->name = PyUnicode_InternFromString("greenlet._greenlet");
	return g->name ? 0 : -1;
}

int greenlets_traverse(struct greenlets *g, visitproc visit, void *arg)
{
	Py_VISIT(g->settrace);
	return 0;
}

void greenlets_clear(struct greenlets *g)
{
	Py_CLEAR(g->settrace);
	Py_CLEAR(g->name);
}
