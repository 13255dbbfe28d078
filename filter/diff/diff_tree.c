// SPDX-License-Identifier: MIT
#include "diff_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

const char *const diff_value_names[DIFF_VALUES] = { "wall", "waiting", "preempted", "calls", "cycles" };

/* A side's tree while it is added. */
struct adding {
	struct diff_tree *t;
	const struct diff_side *s;
	int side;
	json_t *tree;
	struct map pairs;   /* item -> its pair */
	uint32_t *place_of; /* [functions of the tree] -> place + 1 */
	uint32_t *path_of;  /* [paths of the tree] -> path */
};

static bool more_room(void **array, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t wanted = *room ? 2 * *room : 64;
	void *moved = n < *room ? *array : reallocarray(*array, wanted, size);

	if (!moved)
		return false;
	*room = n < *room ? *room : wanted;
	*array = moved;
	return true;
}

static int by_item(const void *a, const void *b)
{
	return diff_item_order(a, b);
}

/* The pair of a function of the tree; NULL: it is not among the functions. */
static const struct diff_pair *pair_of(const struct adding *a, const struct diff_place *p)
{
	struct diff_item key = {
		.file = p->file, .qualname = p->qualname, .firstlineno = p->firstlineno, .line = p->firstlineno
	};
	const struct diff_item *found = bsearch(&key, a->s->items[DIFF_FUNCTIONS], a->s->n[DIFF_FUNCTIONS], sizeof(key),
						by_item);

	return found ? map_get(&a->pairs, (uintptr_t)found) : NULL;
}

static uint64_t key_of(const struct diff_place *p)
{
	return p->pair ? (uintptr_t)p->pair
		       : hash_text(hash_text(HASH_START + p->firstlineno, p->file), p->qualname) | 1;
}

/* + 1; 0: no memory. */
static uint32_t place_of(struct diff_tree *t, const struct diff_place *p)
{
	uint32_t n = (uintptr_t)map_get(&t->by_place, key_of(p));

	if (n) {
		t->places[n - 1] = *p;
		return n;
	}
	if (!more_room((void **)&t->places, t->nplaces, &t->places_room, sizeof(*p)))
		return 0;
	t->places[t->nplaces++] = *p;
	return map_put(&t->by_place, key_of(p), (void *)(uintptr_t)t->nplaces) ? 0 : t->nplaces;
}

static int add_places(struct adding *a)
{
	json_t *functions = json_object_get(a->tree, "functions"), *o;
	size_t i;

	a->place_of = calloc(json_array_size(functions) + 1, sizeof(*a->place_of));
	if (!a->place_of)
		return -ENOMEM;
	json_array_foreach (functions, i, o) {
		struct diff_place p = {
			.file = json_string_value(json_object_get(o, "file")),
			.qualname = json_string_value(json_object_get(o, "qualname")),
			.origin = json_string_value(json_object_get(o, "origin")),
			.firstlineno = json_integer_value(json_object_get(o, "firstlineno")),
		};

		if (!p.file || !p.qualname || !p.origin)
			return -EINVAL;
		p.pair = pair_of(a, &p);
		a->place_of[i] = place_of(a->t, &p);
		if (!a->place_of[i])
			return -ENOMEM;
	}
	return 0;
}

/* 0: no memory; no path but the whole run is number 0. */
static uint32_t path_of(struct diff_tree *t, uint32_t caller, uint32_t place)
{
	uint64_t key = map_pair(caller, place);
	uint32_t n = (uintptr_t)map_get(&t->by_path, key);

	if (n)
		return n;
	if (!more_room((void **)&t->paths, t->npaths, &t->paths_room, sizeof(*t->paths)) ||
	    map_put(&t->by_path, key, (void *)(uintptr_t)t->npaths))
		return 0;
	t->paths[t->npaths] = (struct diff_path){ .caller = caller, .place = place };
	return t->npaths++;
}

/* The numbers from `first` on. */
static void add_values(struct diff_values *to, json_t *row, size_t first)
{
	for (size_t k = 0; k < DIFF_VALUES; k++) {
		json_int_t n = json_integer_value(json_array_get(row, first + k));

		to->of[k] += n > 0 ? n : 0;
	}
}

static size_t number(json_t *row, size_t i)
{
	json_t *v = json_array_get(row, i);

	return json_is_integer(v) && json_integer_value(v) >= 0 ? (size_t)json_integer_value(v) : SIZE_MAX;
}

static int add_paths(struct adding *a)
{
	json_t *paths = json_object_get(a->tree, "paths"), *row;
	size_t i, functions = json_array_size(json_object_get(a->tree, "functions"));

	a->path_of = calloc(json_array_size(paths) + 1, sizeof(*a->path_of));
	if (!a->path_of)
		return -ENOMEM;
	json_array_foreach (paths, i, row) {
		size_t caller = number(row, 0), place = number(row, 1);

		if (i && (caller >= i || place >= functions))
			return -EINVAL;
		a->path_of[i] = i ? path_of(a->t, a->path_of[caller], a->place_of[place] - 1) : 0;
		if (i && !a->path_of[i])
			return -ENOMEM;
		add_values(&a->t->paths[a->path_of[i]].own[a->side], row, 2);
	}
	return 0;
}

static int add_cut(struct adding *a)
{
	size_t i, paths = json_array_size(json_object_get(a->tree, "paths"));
	json_t *row;

	json_array_foreach (json_object_get(a->tree, "cut"), i, row) {
		size_t path = number(row, 0);

		if (path >= paths)
			return -EINVAL;
		add_values(&a->t->paths[a->path_of[path]].cut[a->side], row, 1);
	}
	return 0;
}

static int add_pairs(struct adding *a, const struct diff *d)
{
	int err = 0;

	for (size_t i = 0; i < d->n[DIFF_FUNCTIONS] && !err; i++) {
		struct diff_pair *p = &d->pairs[DIFF_FUNCTIONS][i];
		const struct diff_item *item = a->side ? p->b : p->a;

		err = item ? map_put(&a->pairs, (uintptr_t)item, p) : 0;
	}
	return err;
}

/* What the other side has as well. */
static void keep_values(struct diff_tree *t, json_t *tree)
{
	for (size_t k = 0; k < DIFF_VALUES; k++) {
		bool has = false;
		size_t i;
		json_t *name;

		json_array_foreach (json_object_get(tree, "values"), i, name)
			has |= json_is_string(name) && !strcmp(json_string_value(name), diff_value_names[k]);
		t->has[k] = t->has[k] && has;
	}
}

static int add_side(struct diff_tree *t, const struct diff *d, const struct diff_side *s, int side)
{
	struct adding a = { .t = t, .s = s, .side = side, .tree = json_object_get(s->json, "call_tree") };
	json_int_t parts = json_integer_value(json_object_get(a.tree, "parts"));
	int err = a.tree ? add_pairs(&a, d) : -ENOENT;

	err = err ?: add_places(&a) ?: add_paths(&a) ?: add_cut(&a);
	if (!err)
		keep_values(t, a.tree);
	t->all_paths[side] = json_integer_value(json_object_get(a.tree, "all_paths"));
	t->parts = side && t->parts < parts ? t->parts : parts;
	map_free(&a.pairs);
	free(a.place_of);
	free(a.path_of);
	return err;
}

int diff_tree_make(struct diff_tree *t, const struct diff *d, const struct diff_side *a, const struct diff_side *b)
{
	*t = (struct diff_tree){ .has = { true, true, true, true, true } };
	if (!more_room((void **)&t->paths, 0, &t->paths_room, sizeof(*t->paths)))
		return -ENOMEM;
	t->paths[t->npaths++] = (struct diff_path){ 0 };
	return add_side(t, d, a, 0) ?: add_side(t, d, b, 1);
}

void diff_tree_free(struct diff_tree *t)
{
	map_free(&t->by_place);
	map_free(&t->by_path);
	free(t->places);
	free(t->paths);
	*t = (struct diff_tree){ 0 };
}

bool diff_values_any(const struct diff_values *v)
{
	json_int_t any = 0;

	for (int k = 0; k < DIFF_VALUES; k++)
		any |= v->of[k];
	return any;
}

uint32_t diff_tree_place(const struct diff_tree *t, const struct diff_pair *pair)
{
	return (uintptr_t)map_get(&t->by_place, (uintptr_t)pair);
}
