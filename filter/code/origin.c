// SPDX-License-Identifier: MIT
#include "origin.h"

#include <ctype.h>
#include <string.h>

/* What follows the folder in the path, without the slash; NULL: the path is not in it. */
static const char *inside(const char *path, const char *folder)
{
	size_t n = folder ? strlen(folder) : 0;

	while (n && folder[n - 1] == '/')
		n--;
	return n && !strncmp(path, folder, n) && path[n] == '/' ? path + n + 1 : NULL;
}

/* What follows the last folder of that name. */
static const char *behind(const char *path, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	for (const char *at = path; (at = strchr(at, '/'));)
		if (!strncmp(++at, name, n) && at[n] == '/')
			found = at + n + 1;
	return found;
}

static const char *in_site(const char *path)
{
	const char *site = behind(path, "site-packages");

	return site ? site : behind(path, "dist-packages");
}

/* What follows "/lib/python3.13/", or "/lib64/python3.13t/", or "/python313.zip/". */
static const char *in_lib(const char *path)
{
	for (const char *at = path; (at = strstr(at, "/python3"));) {
		const char *end;

		at += 8;
		end = at + strspn(at, ".0123456789t");

		if (end > at && *end == '/')
			return end + 1;
		if (end > at && !strncmp(end - 1, ".zip/", 5))
			return end + 4;
	}
	return NULL;
}

static const char *in_stdlib(const char *stdlib, const char *path)
{
	const char *lib = inside(path, stdlib);

	return lib ? lib : in_lib(path);
}

/* Does a path in a folder of sys.path begin with that package or module? */
static bool is_of(const char *path, const char *package)
{
	size_t n = strlen(package);

	return !strncmp(path, package, n) && (path[n] == '/' || path[n] == '.');
}

static bool was_started(const struct codes *c, const char *path)
{
	for (size_t i = 0; i < c->npackages; i++)
		if (is_of(path, c->packages[i]))
			return true;
	return false;
}

static bool imports(const char *library)
{
	return is_of(library, "importlib") || is_of(library, "zipimport");
}

static enum origin frozen(const char *name)
{
	return !strncmp(name, "importlib.", 10) || !strncmp(name, "zipimport", 9) ? ORIGIN_IMPORTS : ORIGIN_STDLIB;
}

/* What is made by `exec` or `eval` is no body of a module, though it is called so. */
static bool is_import(const struct code *code, const char *lib)
{
	return (!code->owner && !strcmp(code->qualname, "<module>")) || (lib && imports(lib));
}

enum origin origin_of(const struct codes *c, const struct code *code)
{
	const char *file = code->owner ? code->owner : code->file, *site, *lib;

	if (!strncmp(file, "<frozen ", 8))
		return frozen(file + 8);
	site = in_site(file);
	lib = site ? NULL : in_stdlib(code->process->program.stdlib, file);
	if ((!site && !lib) || was_started(c, site ? site : lib))
		return ORIGIN_OWN;
	if (is_import(code, lib))
		return ORIGIN_IMPORTS;
	return site ? ORIGIN_SITE : ORIGIN_STDLIB;
}

unsigned origin_rank(const struct codes *c, struct code *code)
{
	if (!code->rank)
		code->rank = 1 + (origin_of(c, code) == ORIGIN_OWN) * (origin_is_library(code) ? 1 : 2);
	return code->rank - 1;
}

bool origin_is_library(const struct code *code)
{
	return origin_is_library_path(code->owner ? code->owner : code->file, code->process->program.stdlib);
}

bool origin_is_library_path(const char *path, const char *stdlib)
{
	return in_site(path) || in_stdlib(stdlib, path);
}

static const struct {
	const char *key, *name;
} names[ORIGINS] = {
	[ORIGIN_OWN] = { "own", "the program" },
	[ORIGIN_STDLIB] = { "stdlib", "the standard library" },
	[ORIGIN_SITE] = { "site", "site-packages" },
	[ORIGIN_IMPORTS] = { "imports", "imports" },
};

const char *origin_key(enum origin origin)
{
	return names[origin].key;
}

const char *origin_name(enum origin origin)
{
	return names[origin].name;
}

const char *origin_in_folder(const struct code *code)
{
	return origin_is_library(code) ? NULL : inside(code->file, code->process->program.folder);
}

const char *origin_path(const struct code *code)
{
	const char *path = in_site(code->file);

	path = path ? path : in_stdlib(code->process->program.stdlib, code->file);
	path = path ? path : inside(code->file, code->process->program.folder);
	return path && *path ? path : code->file;
}
