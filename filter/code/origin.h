/* SPDX-License-Identifier: MIT */
/*
 * origin.h - whose code a code object is: the program's own, or a library's.
 *
 * Own is what the user wrote or ran: all code that lies neither in the standard library nor in site-packages, and of
 * those the packages that the command line started (`python -m black`, bin/pytest), with what was installed together
 * with them. The header of a code table names these packages and the standard library's folder (docs/marker.md); so do
 * the names of folders: site-packages, lib/python3.13. Code that lies in no file (`<string>`) is of who made it, which
 * its own line of the table says.
 */
#pragma once

#include "codes.h"

enum origin {
	ORIGIN_OWN,
	ORIGIN_STDLIB,
	ORIGIN_SITE,	/* site-packages, dist-packages */
	ORIGIN_IMPORTS, /* import machinery, and bodies of library modules, which run once, when they are imported */
	ORIGINS
};

enum origin origin_of(const struct codes *c, const struct code *code);

/*
 * How much it is what the user wrote: 2 in no library, 1 of a package that the command line started, 0 a library's. Of
 * two, the one that a person looks for is the higher one.
 */
unsigned origin_rank(const struct codes *c, struct code *code);
#define ORIGIN_RANK_MOST 2

/* Does its file lie in the standard library's folder or in site-packages, whosever code it is? */
bool origin_is_library(const struct code *code);

/* The same by its name; stdlib: that folder, NULL: not known. */
bool origin_is_library_path(const char *path, const char *stdlib);

/* In the summary: "own", "stdlib", "site", "imports". For people: "the standard library". */
const char *origin_key(enum origin origin);
const char *origin_name(enum origin origin);

/* The code's file from the program's current folder on; NULL: it is not in there, or is a library's. */
const char *origin_in_folder(const struct code *code);

/*
 * The end of the code's file name that people need: from the standard library's folder, site-packages or the program's
 * current folder on; of other files all.
 */
const char *origin_path(const struct code *code);
