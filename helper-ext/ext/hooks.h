/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - functions of the standard library, and of trio, whose calls say more than that they happened: what is
 * imported, which task is made, or can go on.
 *
 * Such a function has no ready id (codes.h), so its events, and no others, take the slow path. After the event that its
 * row names, words say the rest, even if a filter leaves the function out.
 */
#pragma once

#include <Python.h>

#include "codes.h"

/*
 * `value`: what the function returns, at PY_RETURN, or its argument, at PY_START; shown: its events are recorded.
 * Calls Python; leaves no exception.
 */
typedef void (*hook_fn)(struct codes *c, uint32_t session, PyObject *value, bool shown);
typedef void (*hook_before_fn)(struct codes *c, uint32_t session, PyObject *code);
/* Of code that is left out: each of its activations begins, and ends. */
typedef void (*hook_each_fn)(struct codes *c, uint32_t session, PyObject *code, enum marker_op op);

struct hook {
	const char *file; /* the file's name ends so */
	const char *qualname;
	enum marker_op op;
	hook_fn follow;	       /* or NULL */
	const char *argument;  /* that it needs at PY_START; NULL: none */
	int at;		       /* which one that is, from 0 on */
	bool anyway;	       /* also where nothing tells which coroutine is resumed (--no-identity) */
	hook_before_fn before; /* before the event's words; or NULL */
	hook_each_fn each;     /* instead of `follow`, where it is left out; or NULL */
};

/* The row of that code, or NULL. */
const struct hook *hooks_find(const struct codes *c, PyCodeObject *code);

/* That of a task's own coroutine, where a filter leaves that out. */
const struct hook *hooks_own(void);

/* That of one of which nothing else tells when a task begins with it (contexts.h). */
const struct hook *hooks_beginning(void);
