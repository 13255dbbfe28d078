/* SPDX-License-Identifier: MIT */
/*
 * ocular.h - spans, instants and counters of a C or C++ extension, as ocular.span, instant and counter in Python.
 *
 *	static struct ocular_name *parse;
 *
 *	parse = ocular_name("parse");	when the module is loaded: PyInit_, or its Py_mod_exec
 *	...
 *	ocular_begin(parse, 0);
 *	do_it();
 *	ocular_end(parse, 0);
 *
 * This header is all that a build needs; ocular.get_include() says where it is, and a copy of it will do. Where Ocular
 * is not installed, or has another version of this interface, the calls do nothing.
 *
 * All calls but ocular_name() want a thread that has the GIL (free-threaded: an attached thread state) of the
 * interpreter that asked for the name. On any other thread, and between Py_BEGIN_ALLOW_THREADS and
 * Py_END_ALLOW_THREADS, they do nothing: it is safe, and not recorded. No call but ocular_name() runs Python code,
 * fails, or changes the exception that is set.
 *
 * A name is Ocular's and lives as long as the process: nothing is to be freed. Each interpreter has its own names: an
 * extension that is loaded in several keeps them in its module's state.
 */
#ifndef OCULAR_H
#define OCULAR_H

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OCULAR_API	   "ocular._core.c_api" /* the capsule */
#define OCULAR_API_VERSION 1

enum ocular_what { OCULAR_INSTANT, OCULAR_BEGIN, OCULAR_END };

/* Of a name a program needs no member. */
struct ocular_name {
	const volatile unsigned char *recording; /* not 0: somebody records */
	void (*say)(struct ocular_name *name, enum ocular_what what, unsigned int which);
	void (*count)(struct ocular_name *name, double value);
};

/* What the capsule has. Later versions of it begin as this one, unless `version` is another. */
struct ocular_api {
	unsigned int version;
	struct ocular_name *(*name)(struct ocular_api *api, const char *text);
};

/*
 * The name of a span, instant or counter: UTF-8, copied. Not NULL, even without memory. It imports ocular, where that
 * is installed, and wants the GIL; the exception that is set stays so.
 */
static inline struct ocular_name *ocular_name(const char *text)
{
	static const unsigned char nobody = 0;
	static struct ocular_name none = { &nobody, 0, 0 };
	struct ocular_name *name = 0;
	struct ocular_api *api;
#if PY_VERSION_HEX >= 0x030c0000
	PyObject *pending = PyErr_GetRaisedException();
#else
	PyObject *type, *value, *traceback;

	PyErr_Fetch(&type, &value, &traceback);
#endif
	api = (struct ocular_api *)PyCapsule_Import(OCULAR_API, 0);
	if (api && api->version == OCULAR_API_VERSION)
		name = api->name(api, text);
	PyErr_Clear();
#if PY_VERSION_HEX >= 0x030c0000
	PyErr_SetRaisedException(pending);
#else
	PyErr_Restore(type, value, traceback);
#endif
	return name ? name : &none;
}

/*
 * A span begins, and ends, on this thread. The newest of that name and `which` ends: 0 where those of a name nest, else
 * what tells them apart, of which the low 16 bits count.
 */
static inline void ocular_begin(struct ocular_name *name, unsigned int which)
{
	if (*name->recording)
		name->say(name, OCULAR_BEGIN, which);
}

static inline void ocular_end(struct ocular_name *name, unsigned int which)
{
	if (*name->recording)
		name->say(name, OCULAR_END, which);
}

/* A mark on the thread's track. */
static inline void ocular_instant(struct ocular_name *name)
{
	if (*name->recording)
		name->say(name, OCULAR_INSTANT, 0);
}

/* The counter of that name has this value from here on, in whatever unit. */
static inline void ocular_counter(struct ocular_name *name, double value)
{
	if (*name->recording)
		name->count(name, value);
}

#ifdef __cplusplus
}
#endif

#endif
