/* SPDX-License-Identifier: MIT */
/*
 * imports.h - what was imported, by what, how long it took, and what ran in it.
 *
 * One tree for all threads and processes of a recording: an import of a module inside that of another is its child,
 * once for each name. An import lasts as long as the activation of importlib's _find_and_load(), as in CPython's -X
 * importtime.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "code/code.h"

struct import {
	const char *name;		    /* owned by the code tables */
	const struct code *module;	    /* the body that it ran; NULL: none was seen, as of modules written in C */
	uint64_t begun_ns, module_ns;	    /* when it began first, and that */
	struct import *parent;		    /* NULL: imported by code that is in no import */
	struct import *first, *last, *next; /* children, and the parent's next one, in the order in which they began */
	uint32_t number, depth;
	uint64_t n, failed; /* how often it ended, and of these with an exception */
	uint64_t total_ns;
	uint64_t self_ns; /* without imports inside it */
	struct map ran;	  /* struct code * -> uint64_t *: its part of self_ns */
};

/* Zeroed: nothing was imported. */
struct imports {
	struct import *first, *last;
	struct map all; /* by parent and name */
};

/* The activation that carries an import. */
static inline bool import_is_of(const struct code *code)
{
	return *code->qualname == '_' && !strcmp(code->qualname, "_find_and_load");
}

/* The import of that name inside `parent` (NULL: in none), made on first use, then. NULL: no memory. */
struct import *imports_find(struct imports *all, struct import *parent, const char *name, uint64_t ns);

/* In it, and in no import inside it, that code spent so much time of its own. 0 or -ENOMEM. */
int import_ran(struct import *i, const struct code *code, uint64_t ns);

/* An activation began in it: the first body of a module is its own. */
void import_begins(struct import *i, const struct code *code, uint64_t ns);

/* It ended after so long. */
void import_ends(struct import *i, uint64_t ns, bool failed);

/* The one after `i` in the order of the tree, parents first; NULL: the first. NULL: there are no more. */
const struct import *imports_next(const struct imports *all, const struct import *i);

/* The code with the most of its own time, in all processes together, and that time. NULL: none. */
const struct code *import_most(const struct import *i, uint64_t *ns);

struct imports_total {
	uint64_t modules, ns; /* different ones that were imported; the time of the outermost imports */
};
struct imports_total imports_total(const struct imports *all);

/*
 * Those of another part of the recording (codes_part.h), in the order of time. 0; -ENOMEM; -EAGAIN: two began at the
 * same time, and which one is to come first is not known.
 */
int imports_join(struct imports *to, const struct imports *more);

void imports_free(struct imports *all);
