/* SPDX-License-Identifier: MIT */
/* uvloop.c - see uvloop.h. Cython lets a module be loaded by one interpreter only, so there is one loop's type. */
#include "uvloop.h"

#include <link.h>
#include <string.h>

#include "codes.h"
#include "contexts.h"
#include "got.h"
#include "keywords.h"
#include "process.h"
#include "tasks.h"

static struct {
	struct got got;
	struct codes *_Atomic codes; /* of the interpreter */
	_Atomic bool enters;
	uintptr_t place; /* in the module's own data */
} uvloop;

/* A method as it was: Cython 3's has the first calling convention, one of 0.29 (uvloop 0.20 and before) the other. */
struct method {
	PyObject *(*real)(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
	PyObject *(*real_old)(PyObject *self, PyObject *args, PyObject *named);
};

/* A call of one, of either kind: the values of named arguments follow the others. */
struct call {
	PyObject *self, *const *args, *names;
	Py_ssize_t n;
};

static PyObject *call_old(const struct method *m, const struct call *l)
{
	PyObject *args = PyTuple_New(l->n), *named = l->names ? keywords_dict(l->args + l->n, l->names) : NULL,
		 *result = NULL;

	for (Py_ssize_t i = 0; args && i < l->n; i++)
		PyTuple_SET_ITEM(args, i, Py_NewRef(l->args[i]));
	if (args && (named || !l->names))
		result = m->real_old(l->self, args, named);
	Py_XDECREF(named);
	Py_XDECREF(args);
	return result;
}

static PyObject *call(const struct method *m, const struct call *l)
{
	return m->real ? m->real(l->self, l->args, l->n, l->names) : call_old(m, l);
}

#define FEW 8

/* With this context, and without one of its own. */
static PyObject *call_in(const struct method *m, const struct call *l, PyObject *context)
{
	PyObject *few[FEW], **all = l->n < FEW ? few : PyMem_Malloc((size_t)(l->n + 1) * sizeof(*all));
	PyObject *names = PyTuple_Pack(1, uvloop.codes->words[WORD_CONTEXT]), *result = NULL;

	if (!all)
		PyErr_NoMemory();
	if (all && names) {
		memcpy(all, l->args, (size_t)l->n * sizeof(*all));
		all[l->n] = context;
		result = call(m, &(struct call){ l->self, all, names, l->n });
	}
	if (all != few)
		PyMem_Free(all);
	Py_XDECREF(names);
	return result;
}

/* The one that the caller gives, borrowed; NULL: none. *other: what it gives is for the method to judge. */
static PyObject *given_context(const struct codes *c, const struct call *l, bool *other)
{
	PyObject *value = l->names && PyTuple_GET_SIZE(l->names) == 1 ? l->args[l->n] : NULL;
	bool named = value && !PyUnicode_Compare(PyTuple_GET_ITEM(l->names, 0), c->words[WORD_CONTEXT]);

	*other = l->n < 1 || (l->names && !named) || (value && value != Py_None && !PyContext_CheckExact(value));
	return *other || value == Py_None ? NULL : value;
}

static bool is_heard(const struct codes *c)
{
	return c && c->listening;
}

typedef void (*tell_fn)(struct codes *c, uint32_t session, PyObject *what, PyObject *context, Py_ssize_t holders);

/* References to a context, without ours, and that of the call's own dict. */
static Py_ssize_t holders(const struct method *m, const PyObject *given, PyObject *context)
{
	return given ? Py_REFCNT(context) - 1 - !m->real : 1;
}

/* Told before the call, because another thread may do it meanwhile. */
static PyObject *tell_and_call(const struct method *m, const struct call *l, tell_fn tell)
{
	struct codes *c = uvloop.codes;
	bool other = true;
	PyObject *given = is_heard(c) ? given_context(c, l, &other) : NULL, *context, *result = NULL;

	if (other)
		return call(m, l);
	context = given ? Py_NewRef(given) : PyContext_CopyCurrent();
	if (context) {
		tell(c, c->session, l->args[0], context, holders(m, given, context));
		result = given ? call(m, l) : call_in(m, l, context);
	}
	Py_XDECREF(context);
	return result;
}

static PyObject *schedule(const struct method *m, const struct call *l)
{
	return tell_and_call(m, l, contexts_scheduled);
}

static PyObject *set_timer(const struct method *m, const struct call *l)
{
	return tell_and_call(m, l, contexts_timed);
}

/* Names it after it has handed over its first step. */
static PyObject *make_task(const struct method *m, const struct call *l)
{
	struct codes *c = uvloop.codes;
	PyObject *task = call(m, l);

	if (task && is_heard(c))
		tasks_made(c, c->session, task, true);
	return task;
}

typedef PyObject *(*take_fn)(const struct method *m, const struct call *l);

/* The same of a call by the old convention. */
static PyObject *take_old(const struct method *m, take_fn take, PyObject *self, PyObject *args, PyObject *named)
{
	Py_ssize_t n = PyTuple_GET_SIZE(args), more = named ? PyDict_GET_SIZE(named) : 0, i = n, at = 0;
	PyObject **all = PyMem_Malloc((size_t)(n + more + 1) * sizeof(*all)), *name, *result = NULL;
	PyObject *names = more ? PyTuple_New(more) : NULL;

	if (!all)
		PyErr_NoMemory();
	if (all && (names || !more)) {
		memcpy(all, &PyTuple_GET_ITEM(args, 0), (size_t)n * sizeof(*all));
		while (more && PyDict_Next(named, &at, &name, &all[i]))
			PyTuple_SET_ITEM(names, i++ - n, Py_NewRef(name));
		result = take(m, &(struct call){ self, all, names, n });
	}
	PyMem_Free(all);
	Py_XDECREF(names);
	return result;
}

#define METHODS(M) \
	M(call_soon, schedule) M(call_soon_threadsafe, schedule) M(call_later, set_timer) M(create_task, make_task)

#define M(name, take) \
	static struct method m_##name; \
	static PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) \
	{ \
		return take(&m_##name, &(struct call){ self, args, names, n }); \
	} \
	static PyObject *name##_old(PyObject *self, PyObject *args, PyObject *named) \
	{ \
		return take_old(&m_##name, take, self, args, named); \
	}
METHODS(M)
#undef M

static int enter(PyObject *context)
{
	struct codes *c = uvloop.codes;
	int err = PyContext_Enter(context);

	if (!err && is_heard(c))
		contexts_entered(c, c->session, context);
	return err;
}

/* Something that may be the definition of a method. */
struct guess {
	PyMethodDef *definition;
	const char *name;
	bool right;
};

static int look_into(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct guess *g = arg;
	const PyMethodDef *d = g->definition;

	(void)size;
	if (!got_has(object, (uintptr_t)d) || !got_has(object, (uintptr_t)(d + 1)))
		return 0;
	g->right = got_has(object, (uintptr_t)d->ml_name) && !strcmp(d->ml_name, g->name) &&
		   (d->ml_flags == (METH_FASTCALL | METH_KEYWORDS) || d->ml_flags == (METH_VARARGS | METH_KEYWORDS));
	return 1;
}

/*
 * The definition of a method of Cython's, whose objects begin as those of C functions do. It is one if it has the name,
 * and is in the module's own memory; else NULL.
 */
static PyMethodDef *definition_of(PyObject *type, const char *name)
{
	PyObject *method = PyObject_GetAttrString(type, name);
	struct guess g = { NULL, name, false };

	PyErr_Clear();
	if (method && Py_TYPE(method) == &PyMethodDescr_Type)
		g.definition = ((PyMethodDescrObject *)method)->d_method;
	else if (method && strstr(Py_TYPE(method)->tp_name, "cython_function_or_method") &&
		 Py_TYPE(method)->tp_basicsize >= (Py_ssize_t)sizeof(PyCFunctionObject))
		g.definition = ((PyCFunctionObject *)method)->m_ml;
	if (g.definition)
		dl_iterate_phdr(look_into, &g);
	Py_XDECREF(method); /* the type keeps it */
	return g.right ? g.definition : NULL;
}

struct row {
	const char *name;
	void *to, *to_old;
	struct method *method;
};

#define M(name, take) { #name, (void *)name, (void *)name##_old, &m_##name },
static const struct row rows[] = { METHODS(M) };
#undef M

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* With the process lock. 0 or a negative errno. */
static int take_method(const struct row *r, PyMethodDef *d)
{
	bool old = !(d->ml_flags & METH_FASTCALL);
	void *is = (void *)d->ml_meth, *to = old ? r->to_old : r->to;

	if (is == to)
		return 0;
	memcpy(old ? (void *)&r->method->real_old : (void *)&r->method->real, &is, sizeof(is));
	return got_take_at(&uvloop.got, (void **)&d->ml_meth, to);
}

static bool is_its(const struct dl_phdr_info *object)
{
	return got_has(object, uvloop.place);
}

/* All or nothing: a task that some let go on unseen would be told as one that waited longer. */
static void take(struct codes *c, PyMethodDef *const definitions[ROWS])
{
	static const struct got_call calls[] = { { "PyContext_Enter", (void *)enter } };
	int err = 0;

	process_lock();
	uvloop.codes = c;
	uvloop.place = (uintptr_t)definitions[0];
	for (size_t i = 0; i < ROWS && !err; i++)
		err = take_method(&rows[i], definitions[i]);
	if (err)
		got_give_back(&uvloop.got);
	else
		uvloop.enters = got_take(&uvloop.got, calls, 1, is_its, 0) > (int)ROWS;
	process_unlock();
}

/* Until it is loaded its type has other methods of the same names. */
static bool is_loaded(const struct codes *c, PyObject *module)
{
	PyObject *spec = PyObject_GetAttr(module, c->words[WORD_SPEC]);
	PyObject *loading = spec ? PyObject_GetAttr(spec, c->words[WORD_LOADING]) : NULL;
	bool is = loading == Py_False;

	PyErr_Clear();
	Py_XDECREF(loading);
	Py_XDECREF(spec);
	return is;
}

void uvloop_look(struct codes *c)
{
	PyObject *module = c->loop_seen ? NULL : PyImport_GetModule(c->words[WORD_UVLOOP]);
	PyObject *type = module && is_loaded(c, module) ? PyObject_GetAttr(module, c->words[WORD_LOOP]) : NULL;
	PyMethodDef *definitions[ROWS];
	size_t n = 0;

	PyErr_Clear();
	while (type && n < ROWS && (definitions[n] = definition_of(type, rows[n].name)))
		n++;
	if (type)
		c->loop_seen = true;
	if (n == ROWS)
		take(c, definitions);
	Py_XDECREF(type);
	Py_XDECREF(module);
}

void uvloop_stop(struct codes *c)
{
	process_lock();
	if (c->loop_seen && uvloop.codes == c)
		got_give_back(&uvloop.got);
	uvloop.enters = c->loop_seen = false;
	process_unlock();
}

bool uvloop_enters(void)
{
	return uvloop.enters;
}
