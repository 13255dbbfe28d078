// SPDX-License-Identifier: MIT
#include "imports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "code/codes_part.h"

static uint64_t hash_of(const struct import *parent, const char *name)
{
	return hash_text(HASH_START ^ (parent ? parent->number : 0), name);
}

/* NULL: there is none yet, and *key is where it belongs. */
static struct import *find(const struct imports *all, const struct import *parent, const char *name, uint64_t *key)
{
	struct import *i;

	*key = hash_of(parent, name);
	while ((i = map_get(&all->all, *key)) && (i->parent != parent || strcmp(i->name, name)))
		++*key;
	return i;
}

struct import *imports_find(struct imports *all, struct import *parent, const char *name, uint64_t ns)
{
	struct import **first = parent ? &parent->first : &all->first, **last = parent ? &parent->last : &all->last;
	uint64_t key;
	struct import *i = find(all, parent, name, &key);

	if (i || !(i = map_add(&all->all, key, sizeof(*i))))
		return i;
	i->name = name;
	i->begun_ns = ns;
	i->parent = parent;
	i->number = (uint32_t)all->all.used;
	i->depth = parent ? parent->depth + 1 : 0;
	*(*last ? &(*last)->next : first) = i;
	*last = i;
	return i;
}

int import_ran(struct import *i, const struct code *code, uint64_t ns)
{
	uint64_t *there = map_get(&i->ran, (uintptr_t)code);

	there = there ? there : map_add(&i->ran, (uintptr_t)code, sizeof(*there));
	if (!there)
		return -ENOMEM;
	*there += ns;
	i->self_ns += ns;
	return 0;
}

void import_begins(struct import *i, const struct code *code, uint64_t ns)
{
	if (i->module || strcmp(code->qualname, "<module>") != 0)
		return;
	i->module = code;
	i->module_ns = ns;
}

void import_ends(struct import *i, uint64_t ns, bool failed)
{
	i->n++;
	i->failed += failed;
	i->total_ns += ns;
}

const struct import *imports_next(const struct imports *all, const struct import *i)
{
	if (!i || i->first)
		return i ? i->first : all->first;
	while (i && !i->next)
		i = i->parent;
	return i ? i->next : NULL;
}

struct part {
	const struct code *code;
	uint64_t ns;
};

static bool is_same_place(const struct code *a, const struct code *b)
{
	return a->firstlineno == b->firstlineno && !strcmp(a->qualname, b->qualname) && !strcmp(a->file, b->file);
}

static int by_code(const void *left, const void *right)
{
	return code_order(((const struct part *)left)->code, ((const struct part *)right)->code);
}

/* What ran in it, equal places of several processes next to each other. NULL: no memory. */
static struct part *parts_of(const struct import *i)
{
	struct part *parts = calloc(i->ran.used + 1, sizeof(*parts));
	size_t n = 0;

	for (struct map_slot *s = NULL; parts && (s = map_next(&i->ran, s));)
		parts[n++] = (struct part){ (const struct code *)(uintptr_t)s->key, *(uint64_t *)s->value };
	if (parts)
		qsort(parts, n, sizeof(*parts), by_code);
	return parts;
}

const struct code *import_most(const struct import *i, uint64_t *ns)
{
	struct part *parts = parts_of(i), sum = { 0 }, most = { 0 };

	for (size_t k = 0; parts && k < i->ran.used; k++) {
		if (sum.code && is_same_place(sum.code, parts[k].code))
			sum.ns += parts[k].ns;
		else
			sum = parts[k];
		if (!most.code || sum.ns > most.ns)
			most = sum;
	}
	free(parts);
	*ns = most.ns;
	return most.code;
}

struct imports_total imports_total(const struct imports *all)
{
	struct imports_total t = { 0 };
	struct map names = { 0 };

	for (const struct import *i = NULL; (i = imports_next(all, i));) {
		uint64_t key = hash_of(NULL, i->name);

		t.ns += i->parent ? 0 : i->total_ns;
		t.modules += i->n > i->failed && !map_get(&names, key) && !map_put(&names, key, (void *)i);
	}
	map_free(&names);
	return t;
}

/* --- two of them --------------------------------------------------------------------------------------------- */

/* Takes it out of its parent's children, and puts it where it belongs by time. 0 or -EAGAIN. */
static int move_by_time(struct imports *all, struct import *i)
{
	struct import **first = i->parent ? &i->parent->first : &all->first, **at = first;
	struct import **last = i->parent ? &i->parent->last : &all->last;

	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	for (at = first; *at && (*at)->begun_ns < i->begun_ns; at = &(*at)->next)
		;
	if (*at && (*at)->begun_ns == i->begun_ns)
		return -EAGAIN;
	i->next = *at;
	*at = i;
	for (*last = i; (*last)->next; *last = (*last)->next)
		;
	return 0;
}

static int join_module(struct import *to, const struct import *more)
{
	if (!more->module || (to->module && to->module_ns < more->module_ns))
		return 0;
	if (to->module && to->module_ns == more->module_ns)
		return -EAGAIN;
	to->module = codes_same(more->module);
	to->module_ns = more->module_ns;
	return to->module ? 0 : -ENOMEM;
}

static int join_totals(struct import *to, const struct import *more)
{
	int err = 0;

	to->n += more->n;
	to->failed += more->failed;
	to->total_ns += more->total_ns;
	for (struct map_slot *s = NULL; !err && (s = map_next(&more->ran, s));) {
		const struct code *code = codes_same((const struct code *)(uintptr_t)s->key);

		err = code ? import_ran(to, code, *(uint64_t *)s->value) : -ENOMEM;
	}
	return err;
}

/* One that began at the same time as another process's is no sign of which came first. */
static int join_one(struct imports *all, struct import *parent, const struct import *more)
{
	uint64_t key;
	struct import *i = find(all, parent, more->name, &key);
	bool anew = !i, earlier = i && more->begun_ns < i->begun_ns;

	if (i && i->begun_ns == more->begun_ns)
		return -EAGAIN;
	i = i ?: imports_find(all, parent, more->name, more->begun_ns);
	if (!i)
		return -ENOMEM;
	i->begun_ns = earlier ? more->begun_ns : i->begun_ns;
	return (anew || earlier ? move_by_time(all, i) : 0) ?: join_module(i, more) ?: join_totals(i, more);
}

/* Parents first: `to` has the import's parent. */
static struct import *same_as(const struct imports *to, const struct import *more)
{
	uint64_t key;

	return more ? find(to, same_as(to, more->parent), more->name, &key) : NULL;
}

int imports_join(struct imports *to, const struct imports *more)
{
	int err = 0;

	for (const struct import *i = NULL; !err && (i = imports_next(more, i));)
		err = join_one(to, same_as(to, i->parent), i);
	return err;
}

void imports_free(struct imports *all)
{
	for (struct map_slot *s = NULL; (s = map_next(&all->all, s));)
		map_free_all(&((struct import *)s->value)->ran);
	map_free_all(&all->all);
}
