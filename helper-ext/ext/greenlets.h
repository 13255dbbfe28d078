/* SPDX-License-Identifier: MIT */
/*
 * greenlets.h - which greenlet a thread runs, where the package greenlet is loaded: SUBJECT words (docs/marker.md).
 *
 * greenlet.settrace() calls a function of ours after each switch; it is each thread's own, so each sets it with its
 * first event, or with the next one if greenlet is loaded later. Whoever traced before is called, too, and gets the
 * place back. Nothing here loads greenlet.
 */
#pragma once

#include <Python.h>
#include <stdbool.h>

#include "codes.h"

/* Of a module, zeroed. */
struct greenlets {
	PyObject *module;   /* borrowed: ocular._core */
	PyObject *name;	    /* of greenlet's module in C */
	PyObject *settrace; /* of that; NULL: it was not loaded yet */
	void *const *api;   /* of that: greenlet.h there; valid for ever */
	bool seen;	    /* in this session: it was loaded, and perhaps it has no settrace() */
};

/* With an exception: -1. */
int greenlets_open(PyObject *module, struct greenlets *g);
int greenlets_traverse(struct greenlets *g, visitproc visit, void *arg);
void greenlets_clear(struct greenlets *g);

/* A session begins. */
void greenlets_begin(struct greenlets *g);

/* Is greenlet loaded by now? Then every thread's next event goes the slow way. Calls Python. */
void greenlets_look(const struct codes *c);

/* A module has been loaded (hooks.h): the same. */
void greenlets_loaded(struct codes *c, uint32_t session, PyObject *value, bool shown);

/*
 * The calling thread's switches are told from here on, if greenlet is loaded. continues: what it did before was told,
 * but not for which greenlet. Calls Python.
 */
void greenlets_follow(const struct codes *c, bool continues);

/* The session ends: the calling thread's place is given back. Other threads' are when they switch again. */
void greenlets_end(const struct codes *c);
