/* SPDX-License-Identifier: MIT */
/*
 * names.h - ids of names that are no code: of modules that are imported, of the program's own labels.
 *
 * A name is written to the code table when it is used for the first time in a session. Ids are kept with their session:
 * another session's are in another table.
 */
#pragma once

#include <Python.h>
#include <stdint.h>

#define NAMES_MET 32
#define NAMES_FEW 4096

/* Of an interpreter's module, zeroed. Names are exact str, or tuples of such. */
struct names {
	PyObject *ids; /* dict of name to session << 24 | id */
	const char *kind;
	Py_ssize_t most; /* names in a session, or 0: any number */
	/*
	 * Those met last, each at the place that its address gives: a call has the same text and the same tuple of
	 * keywords each time, and to look them up takes longer than to write their words.
	 */
	struct name_met {
		PyObject *name; /* held, or NULL */
		uint64_t there; /* session << 24 | id */
	} met[NAMES_MET];
};

/* kind: of the table's lines, static; most: NAMES_FEW of what may be anything, or 0. With an exception: -1. */
int names_open(struct names *n, const char *kind, Py_ssize_t most);
int names_traverse(const struct names *n, visitproc visit, void *arg);
void names_clear(struct names *n);

/* A session is over: the next one has room for as many. */
void names_forget(struct names *n);

/*
 * The id of a name. Threads that meet a name at once each write it. 0: all ids are used up, there are as many names as
 * there may be, or there is no memory; no exception.
 */
uint32_t names_id(struct names *n, PyObject *name, uint32_t session);
