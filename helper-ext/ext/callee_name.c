/* SPDX-License-Identifier: MIT */
/*
 * callee_name.c - see callee_name.h. Nothing in here runs code of the program: attributes are read by the interpreter's
 * own functions, and only what they are known to be is asked for its repr().
 */
#include "callee_name.h"

/*
 * CPython keeps the type of bound slot wrappers ("x.__init__") to itself, but not their layout
 * (Objects/descrobject.c).
 */
struct bound_slot {
	PyObject base;
	PyWrapperDescrObject *slot;
};

static PyTypeObject *_Atomic bound_slot_type; /* the same in all interpreters; NULL: not found */

int callee_open(void)
{
	PyObject *bound = PyObject_GetAttrString(Py_None, "__repr__");
	PyTypeObject *type = bound ? Py_TYPE(bound) : NULL;

	if (!bound)
		return -1;
	if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) && type->tp_basicsize >= (Py_ssize_t)sizeof(struct bound_slot) &&
	    Py_TYPE(((struct bound_slot *)bound)->slot) == &PyWrapperDescr_Type)
		bound_slot_type = type;
	Py_DECREF(bound);
	return 0;
}

PyWrapperDescrObject *callee_slot(PyObject *callable)
{
	PyTypeObject *type = Py_TYPE(callable);

	if (type == &PyWrapperDescr_Type)
		return (PyWrapperDescrObject *)callable;
	return type == bound_slot_type ? ((struct bound_slot *)callable)->slot : NULL;
}

bool callee_is_like_builtin(PyTypeObject *type)
{
	return type->tp_basicsize >= (Py_ssize_t)sizeof(PyCFunctionObject) &&
	       strstr(type->tp_name, "cython_function_or_method");
}

/* What is known of one. Any of the objects may be NULL. */
struct naming {
	const char *what;
	PyObject *module, *qualname, *label;
	bool profiled;
};

/* An attribute of a type, whatever its metaclass does. */
static PyObject *attribute_of(PyTypeObject *type, const char *name)
{
	PyObject *key = PyUnicode_FromString(name);
	PyObject *value = key ? PyType_Type.tp_getattro((PyObject *)type, key) : NULL;

	PyErr_Clear();
	Py_XDECREF(key);
	return value;
}

/* What a type's bases, itself the first, have under a name, one after the other. */
struct bases {
	const char *name;
	PyObject *mro, *at; /* at: the base that has the last one, borrowed */
	Py_ssize_t next;
};

static struct bases bases_of(PyTypeObject *type, const char *name)
{
	return (struct bases){ .name = name, .mro = attribute_of(type, "__mro__") };
}

/* A new reference to the next one, as it is, or NULL: there is none. */
static PyObject *bases_next(struct bases *b)
{
	PyObject *found = NULL;

	while (!found && b->mro && PyTuple_Check(b->mro) && b->next < PyTuple_GET_SIZE(b->mro)) {
		PyObject *base = PyTuple_GET_ITEM(b->mro, b->next++);
		PyObject *dict = PyType_Check(base) ? PyType_GetDict((PyTypeObject *)base) : NULL;

		found = dict ? Py_XNewRef(PyDict_GetItemString(dict, b->name)) : NULL;
		b->at = base;
		Py_XDECREF(dict);
	}
	PyErr_Clear();
	return found;
}

static void bases_free(struct bases *b)
{
	Py_XDECREF(b->mro);
}

/* The type's own attribute, or the one it inherits. A new reference, or NULL. */
static PyObject *inherited(PyTypeObject *type, const char *name)
{
	struct bases b = bases_of(type, name);
	PyObject *found = bases_next(&b);

	bases_free(&b);
	return found;
}

/* "list.append" */
static PyObject *in_type(PyTypeObject *type, const char *name)
{
	PyObject *qualname = attribute_of(type, "__qualname__");
	PyObject *joined = qualname ? PyUnicode_FromFormat("%S.%s", qualname, name) : NULL;

	Py_XDECREF(qualname);
	return joined;
}

static void name_in_type(struct naming *n, PyTypeObject *type, const char *name)
{
	n->module = attribute_of(type, "__module__");
	n->qualname = in_type(type, name);
}

/* Its repr() runs nothing but the interpreter's own code. */
static bool is_plain(PyObject *o)
{
	PyTypeObject *type = Py_TYPE(o);

	return type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type || type == &PyWrapperDescr_Type ||
	       type == &PyGetSetDescr_Type || type == &PyMemberDescr_Type || type == &PyCFunction_Type ||
	       type == &PyFunction_Type;
}

/* cProfile's name of a built-in method: the repr() of what its object's type has under that name. */
static PyObject *label_of_method(PyObject *self, const char *name, PyObject *module)
{
	PyObject *there = inherited(Py_TYPE(self), name);
	PyObject *label = there && is_plain(there) ? PyObject_Repr(there) : NULL;

	PyErr_Clear();
	Py_XDECREF(there);
	if (label)
		return label;
	if (module && PyUnicode_Check(module))
		return PyUnicode_FromFormat("<built-in method %U.%s>", module, name);
	return PyUnicode_FromFormat("<built-in method %s>", name);
}

static PyObject *module_name(PyObject *module)
{
	if (module && PyModule_Check(module))
		return PyModule_GetNameObject(module);
	return module && PyUnicode_Check(module) ? Py_NewRef(module) : NULL;
}

/* ... of a function without an object. */
static PyObject *label_of_function(const char *name, PyObject *module)
{
	if (module && PyUnicode_CompareWithASCIIString(module, "builtins"))
		return PyUnicode_FromFormat("<%U.%s>", module, name);
	return PyUnicode_FromFormat("<%s>", name);
}

/* A descriptor, or, as pybind11 makes methods, a function that is bound like one of Python's. */
static bool is_method(PyObject *there, PyMethodDef *definition)
{
	PyObject *function = PyInstanceMethod_Check(there) ? PyInstanceMethod_GET_FUNCTION(there) : NULL;

	if (function)
		return PyCFunction_Check(function) && ((PyCFunctionObject *)function)->m_ml == definition;
	return (Py_TYPE(there) == &PyMethodDescr_Type || Py_TYPE(there) == &PyClassMethodDescr_Type) &&
	       ((PyMethodDescrObject *)there)->d_method == definition;
}

/* The type that defines the method: this one, or a base; others may override it. A new reference, or NULL. */
static PyObject *definer(PyTypeObject *type, PyMethodDef *definition)
{
	struct bases b = bases_of(type, definition->ml_name);
	PyObject *there, *found = NULL;

	while (!found && (there = bases_next(&b))) {
		found = is_method(there, definition) ? Py_NewRef(b.at) : NULL;
		Py_DECREF(there);
	}
	bases_free(&b);
	return found;
}

/* The same of an object, or of a type that is one. */
static PyObject *definer_of(PyObject *self, PyMethodDef *definition)
{
	PyObject *type = definer(Py_TYPE(self), definition);

	return type || !PyType_Check(self) ? type : definer((PyTypeObject *)self, definition);
}

static void name_builtin(struct naming *n, PyCFunctionObject *f, PyObject *first)
{
	PyObject *self = f->m_self, *module = module_name(f->m_module);
	PyObject *type = self && !PyModule_Check(self) ? definer_of(self, f->m_ml) : NULL;
	const char *name = f->m_ml->ml_name;

	if (!type)
		type = definer(Py_TYPE(first), f->m_ml);
	n->what = self && !PyModule_Check(self) ? "method" : "function";
	n->profiled = true;
	n->label = self ? label_of_method(self, name, f->m_module) : label_of_function(name, module);
	if (type)
		name_in_type(n, (PyTypeObject *)type, name);
	else
		n->module = Py_XNewRef(module);
	if (!n->qualname)
		n->qualname = PyUnicode_FromString(name);
	Py_XDECREF(type);
	Py_XDECREF(module);
}

static void name_descriptor(struct naming *n, PyMethodDescrObject *d, PyObject *first)
{
	PyTypeObject *type = PyDescr_TYPE(d);
	const char *name = d->d_method->ml_name;

	n->what = "method";
	n->profiled = Py_TYPE(d) == &PyMethodDescr_Type;
	name_in_type(n, type, name);
	n->label = PyObject_TypeCheck(first, type) ? label_of_method(first, name, NULL) : PyObject_Repr((PyObject *)d);
}

static void name_type(struct naming *n, PyTypeObject *type)
{
	n->what = "type";
	n->module = attribute_of(type, "__module__");
	n->qualname = attribute_of(type, "__qualname__");
	n->label = PyType_Type.tp_repr((PyObject *)type);
}

static void name_slot(struct naming *n, PyWrapperDescrObject *slot)
{
	n->what = "method";
	name_in_type(n, PyDescr_TYPE(slot), slot->d_base->name);
	n->label = PyObject_Repr((PyObject *)slot);
}

static void name_like_builtin(struct naming *n, PyObject *callable)
{
	n->what = "function";
	n->module = PyObject_GetAttrString(callable, "__module__");
	PyErr_Clear();
	n->qualname = PyObject_GetAttrString(callable, "__qualname__");
	n->label = n->qualname
			   ? PyUnicode_FromFormat("<cyfunction %S.%S>", n->module ? n->module : Py_None, n->qualname)
			   : NULL;
}

/* Calls of an object whose type says what that is. */
static bool name_object(struct naming *n, PyTypeObject *type)
{
	PyObject *call = inherited(type, "__call__");
	bool python = call && Py_TYPE(call) == &PyFunction_Type;

	n->what = "method";
	name_in_type(n, type, "__call__");
	n->label = PyUnicode_FromFormat("<slot wrapper '__call__' of '%s' objects>", type->tp_name);
	Py_XDECREF(call);
	return !python;
}

static bool name(struct naming *n, PyObject *callable, PyObject *first)
{
	PyTypeObject *type = Py_TYPE(callable);
	PyWrapperDescrObject *slot = callee_slot(callable);

	if (slot)
		name_slot(n, slot);
	else if (PyType_Check(callable))
		name_type(n, (PyTypeObject *)callable);
	else if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type)
		name_descriptor(n, (PyMethodDescrObject *)callable, first);
	else if (PyCFunction_Check(callable))
		name_builtin(n, (PyCFunctionObject *)callable, first);
	else if (callee_is_like_builtin(type))
		name_like_builtin(n, callable);
	else
		return name_object(n, type);
	return true;
}

static void add(struct text *line, const char *key, PyObject *value)
{
	if (!value || !PyUnicode_Check(value))
		return;
	text_printf(line, ",\"%s\":", key);
	text_str(line, value);
}

bool callee_describe(PyObject *callable, PyObject *first, struct text *line)
{
	struct naming n = { 0 };
	bool c = name(&n, callable, first);

	PyErr_Clear();
	text_printf(line, ",\"type\":\"%s\"", n.what);
	add(line, "module", n.module);
	add(line, "qualname", n.qualname);
	add(line, "name", n.label);
	text_printf(line, "%s}", n.profiled ? ",\"profiled\":true" : "");
	Py_XDECREF(n.module);
	Py_XDECREF(n.qualname);
	Py_XDECREF(n.label);
	return c;
}

void callee_describe_type(PyTypeObject *type, struct text *line)
{
	struct naming n = { 0 };

	name_type(&n, type);
	PyErr_Clear();
	add(line, "module", n.module);
	add(line, "qualname", n.qualname);
	text_add(line, "}", 1);
	Py_XDECREF(n.module);
	Py_XDECREF(n.qualname);
	Py_XDECREF(n.label);
}
