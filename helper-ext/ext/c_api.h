/* SPDX-License-Identifier: MIT */
/*
 * c_api.h - the other end of ocular/include/ocular.h: what extensions in C say, as labels.h writes it.
 */
#pragma once

#include "labels.h"
#include "ocular/include/ocular.h"

struct c_name;

/* Of an interpreter. It outlives its module: extensions have its names until the process ends. */
struct c_api {
	struct ocular_api shown; /* first: it is what the capsule has */
	struct labels *labels;	 /* NULL: the module is gone */
	PyInterpreterState *interpreter;
	struct c_name *names; /* newest first */
};

/* Adds the capsule to the module. NULL with an exception. */
struct c_api *c_api_open(PyObject *module, struct labels *l);

/* The module goes: calls do nothing from here on. May be NULL. */
void c_api_close(struct c_api *api);
