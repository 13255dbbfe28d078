/* SPDX-License-Identifier: MIT */
/* filter.c - see filter.h. Runs once for each code object, so it need not be fast. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

static void patterns_clear(struct patterns *p)
{
	while (p->n)
		free(p->v[--p->n]);
	free(p->v);
	free(p->matched);
	p->v = NULL;
	p->matched = NULL;
}

int patterns_set(struct patterns *p, const char *const *list)
{
	size_t n = 0;

	patterns_clear(p);
	while (list[n])
		n++;
	p->v = calloc(n + 1, sizeof(*p->v));
	p->matched = calloc(n + 1, sizeof(*p->matched));
	if (!p->v || !p->matched)
		return -ENOMEM;
	for (; p->n < n; p->n++) {
		p->v[p->n] = strdup(list[p->n]);
		if (!p->v[p->n])
			return -ENOMEM;
	}
	return 0;
}

static bool is_glob(const char *pattern)
{
	size_t n = strlen(pattern);

	return strchr(pattern, '/') || (n > 3 && !strcmp(pattern + n - 3, ".py"));
}

/* The glob against the whole path, and against what follows each slash of it. */
static bool glob_matches(const char *pattern, const char *file)
{
	for (; file; file = strchr(file, '/'), file = file ? file + 1 : NULL)
		if (!fnmatch(pattern, file, 0))
			return true;
	return false;
}

static bool is_in(const char *package, const char *module)
{
	size_t n = strlen(package);

	return module && !strncmp(package, module, n) && (!module[n] || module[n] == '.');
}

static bool is_same(const char *pattern, const char *module)
{
	return module && !strcmp(pattern, module);
}

bool filter_is(const char *pattern, const char *file, const struct module_names *m)
{
	if (is_glob(pattern))
		return glob_matches(pattern, file);
	return is_same(pattern, m->name) || is_same(pattern, m->alias) || is_same(pattern, m->main);
}

/* All are looked at, so that each pattern knows whether it matched. */
static bool any_matches(const struct patterns *p, const char *file, const struct module_names *m)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		const char *pattern = p->v[i];
		bool matches = is_glob(pattern)
				       ? glob_matches(pattern, file)
				       : is_in(pattern, m->name) || is_in(pattern, m->alias) || is_in(pattern, m->main);

		if (matches)
			atomic_store_explicit(&p->matched[i], true, memory_order_relaxed);
		any |= matches;
	}
	return any;
}

bool filter_is_own(const struct filter *f, const char *file)
{
	const struct patterns *folders = &f->own;

	for (size_t i = 0; i < folders->n; i++) {
		size_t n = strlen(folders->v[i]);

		if (!strncmp(file, folders->v[i], n) && file[n] == '/')
			return true;
	}
	return false;
}

bool filter_wants(const struct filter *f, const char *file, const struct module_names *module)
{
	bool excluded, included;

	if (filter_is_own(f, file))
		return false;
	excluded = any_matches(&f->exclude, file, module);
	included = any_matches(&f->include, file, module);
	return !excluded && (included || !f->include.n);
}
