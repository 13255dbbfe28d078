/* SPDX-License-Identifier: MIT */
/*
 * filter.h - which code is traced.
 *
 * A pattern with '/' or ending in ".py" is a glob on co_filename, on all of it or on its last components; any other is
 * a module, or a package and all in it. Exclude beats include; without an include everything is included.
 *
 * A module has several names: "__main__" is also what it would be called if it were imported. Each pattern knows
 * whether it has ever matched, so that a mistaken one can be reported at the end.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct patterns {
	char **v;
	atomic_bool *matched; /* [n] */
	size_t n;
};

/* All may be NULL: unknown. */
struct module_names {
	const char *name, *alias, *main; /* "__main__" of a module that multiprocessing gives another name */
};

struct filter {
	struct patterns include, exclude;
	struct patterns own; /* Ocular's folders, never traced */
};

/* Take the strings of a NULL-terminated list (copied). -ENOMEM. */
int patterns_set(struct patterns *p, const char *const *list);

/* Is it that module, or a file that the glob matches? */
bool filter_is(const char *pattern, const char *file, const struct module_names *module);

/* Is the file one of ours? */
bool filter_is_own(const struct filter *f, const char *file);

bool filter_wants(const struct filter *f, const char *file, const struct module_names *module);
