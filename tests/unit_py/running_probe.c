/* SPDX-License-Identifier: MIT */
/* running_probe.c - running.c as a module of Python, to look at; and other storage for it than CPython's. */
#include <Python.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "ext/image.h"

static PyThreadState *save_thread(void);
static void restore_thread(PyThreadState *state);
static bool any_image_of(struct image *image, const void *address);
#define PyEval_SaveThread    save_thread
#define PyEval_RestoreThread restore_thread
#define image_of	     any_image_of
#include "ext/running.c"
#undef PyEval_SaveThread
#undef PyEval_RestoreThread
#undef image_of

/* Words that refer to the thread state; those that do not once it is detached; that do again when it is attached. */
static const struct storage {
	const char *name;
	int refer, leave, come_back;
} kinds[] = {
	{ "nothing refers to it", 0, 0, 0 },	    { "one", 1, 1, 1 },
	{ "one follows, others stay", 3, 1, 1 },    { "one that stays", 1, 0, 0 },
	{ "one that does not come back", 1, 1, 0 }, { "two", 2, 2, 2 },
	{ "too many that stay", WORDS, 0, 0 },	    { "too many", WORDS + 1, 1, 1 },
};
static const struct storage *kind; /* NULL: CPython's own */

#define FIRST 2 /* the storage begins after the first byte */
static PyThreadState *words[FIRST + WORDS + 1];

static void set_words(int n, PyThreadState *value)
{
	for (int i = 0; kind && i < n; i++)
		words[FIRST + i] = value;
}

static PyThreadState *save_thread(void)
{
	PyThreadState *state = PyEval_SaveThread();

	set_words(kind ? kind->leave : 0, NULL);
	return state;
}

static void restore_thread(PyThreadState *state)
{
	PyEval_RestoreThread(state);
	set_words(kind ? kind->come_back : 0, state);
}

static bool any_image_of(struct image *image, const void *address)
{
	uint64_t start = (uintptr_t)words;

	if (!image_of(image, (const void *)PyEval_SaveThread))
		return false;
	if (kind)
		image->tls = (struct range){ start + 1, start + sizeof(words) };
	return true;
}

static bool find_in(const struct storage *storage)
{
	kind = storage;
	memset(words, 0, sizeof(words));
	set_words(kind ? kind->refer : 0, running_asked());
	running_word = NULL;
	running.module = 0;
	running.sought = false;
	running_find();
	return running.module != 0;
}

/* In CPython's own storage. */
static PyObject *find(PyObject *self, PyObject *unused)
{
	return PyBool_FromLong(find_in(NULL));
}

/* In which other storage is it found? */
static PyObject *find_elsewhere(PyObject *self, PyObject *unused)
{
	PyObject *found = PyDict_New();

	for (size_t i = 0; found && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (PyDict_SetItemString(found, kinds[i].name, find_in(&kinds[i]) ? Py_True : Py_False))
			Py_CLEAR(found);
	return found;
}

/* As if the word were another one than it is. */
static PyObject *misplace(PyObject *self, PyObject *unused)
{
	static _Thread_local PyThreadState *other;

	running_word = NULL;
	running.offset = (const char *)&other - storage_of(running.module);
	Py_RETURN_NONE;
}

/* Does the thread learn what CPython says, too? */
static PyObject *meet(PyObject *self, PyObject *unused)
{
	return PyBool_FromLong(running_meet() == running_asked());
}

static bool agrees(void)
{
	return running_word && *running_word == running_asked();
}

/* Where the thread's word is, None if it is not known. RuntimeError: it says something else than CPython. */
static PyObject *word(PyObject *self, PyObject *unused)
{
	if (!running_word)
		Py_RETURN_NONE;
	if (agrees())
		return PyLong_FromVoidPtr((void *)running_word);
	PyErr_SetString(PyExc_RuntimeError, "another thread state");
	return NULL;
}

static PyObject *in_another_interpreter(PyObject *self, PyObject *unused)
{
	PyThreadState *own = running_asked(), *other = Py_NewInterpreter();
	bool right = other && other != own && running_asked() == other && agrees();

	if (other)
		Py_EndInterpreter(other);
	PyThreadState_Swap(own);
	return PyBool_FromLong(right && agrees());
}

/* A thread that Python does not know has another thread state at each visit, and none between. */
static void *visit(void *right)
{
	bool all = !running_word;

	for (int i = 0; i < 3; i++) {
		PyGILState_STATE state = PyGILState_Ensure();

		all = all && (running_word || running_meet()) && agrees();
		PyGILState_Release(state);
		all = all && !*running_word;
	}
	*(bool *)right = all;
	return NULL;
}

static PyObject *in_a_visitor(PyObject *self, PyObject *unused)
{
	pthread_t thread;
	bool right = false;

	Py_BEGIN_ALLOW_THREADS if (!pthread_create(&thread, NULL, visit, &right)) pthread_join(thread, NULL);
	Py_END_ALLOW_THREADS return PyBool_FromLong(right);
}

static PyMethodDef methods[] = {
	{ "find", find, METH_NOARGS, NULL },
	{ "find_elsewhere", find_elsewhere, METH_NOARGS, NULL },
	{ "misplace", misplace, METH_NOARGS, NULL },
	{ "meet", meet, METH_NOARGS, NULL },
	{ "word", word, METH_NOARGS, NULL },
	{ "in_another_interpreter", in_another_interpreter, METH_NOARGS, NULL },
	{ "in_a_visitor", in_a_visitor, METH_NOARGS, NULL },
	{ NULL },
};
static struct PyModuleDef definition = { PyModuleDef_HEAD_INIT, .m_name = "running_probe", .m_methods = methods };

PyMODINIT_FUNC PyInit_running_probe(void);
PyMODINIT_FUNC PyInit_running_probe(void)
{
	PyObject *module = PyModule_Create(&definition);

#ifdef Py_GIL_DISABLED
	if (module)
		PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
	return module;
}
