/* SPDX-License-Identifier: MIT */
/*
 * version.h - `--version` of every program. OCULAR_VERSION is ocular.__version__ (helper-ext/ocular/__init__.py), the
 * one place for it: the Makefile defines it for the files that have a main(), and pyproject.toml reads it there, too.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Is it the first word? Then this writes the version to stdout, as `program 0.1.0`, and there is nothing more to do. */
static inline bool version_asked(int argc, char **argv, const char *program)
{
	if (argc < 2 || strcmp(argv[1], "--version"))
		return false;
	printf("%s %s\n", program, OCULAR_VERSION);
	return true;
}
