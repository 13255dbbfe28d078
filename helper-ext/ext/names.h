/* SPDX-License-Identifier: MIT */
/*
 * names.h - ids of names that are no code: of modules that are imported, of the program's own labels.
 *
 * A name is written to the code table when it is used for the first time in a session. Ids are kept in a dict of the
 * interpreter, each with its session: another session's are in another table.
 */
#pragma once

#include <Python.h>
#include <stdint.h>

/*
 * The id of a name, an exact str or a tuple of such, of that kind of the table's lines. Threads that meet a name at
 * once each write it. 0: all ids are used up, or there is no memory; no exception.
 */
uint32_t names_id(PyObject *ids, const char *kind, PyObject *name, uint32_t session);

/* The same of names that may be any number: 0, too, if the dict has so many and this one is not among them. */
#define NAMES_FEW 4096
uint32_t names_few(PyObject *ids, const char *kind, PyObject *name, uint32_t session);
