// SPDX-License-Identifier: MIT
/*
 * Nodes are numbered in the order in which paths of the call tree were entered, callers first: sums over a path and all
 * below it need no walk, only a loop from the last node to the first.
 */
#include "flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/calltree_join.h"
#include "shared/array.h"

static bool same_owner(const struct code *a, const struct code *b)
{
	return a->owner && b->owner ? !strcmp(a->owner, b->owner) : a->owner == b->owner;
}

static bool same_place(const struct code *a, const struct code *b)
{
	return a == b || (a->firstlineno == b->firstlineno && !strcmp(a->qualname, b->qualname) &&
			  !strcmp(a->file, b->file) && same_owner(a, b));
}

static uint64_t place_hash(const struct code *code)
{
	return hash_text(hash_text(HASH_START + code->firstlineno, code->file), code->qualname);
}

/* + 1; 0: there is none yet. */
static uint32_t find_place(const struct flame *f, const struct code *code, uint64_t hash)
{
	uint32_t n = (uintptr_t)map_get(&f->names, hash);

	while (n && !same_place(f->places[n - 1].code, code))
		n = f->places[n - 1].next;
	return n;
}

/* + 1; 0: no memory. */
static uint32_t place_of(struct flame *f, const struct code *code)
{
	uint64_t hash = place_hash(code);
	uint32_t n = find_place(f, code, hash);

	if (n)
		return n;
	if (!ARRAY_ROOM(f->places, f->nplaces, f->places_size))
		return 0;
	f->places[f->nplaces] = (struct flame_place){ .code = code, .next = (uintptr_t)map_get(&f->names, hash) };
	return map_put(&f->names, hash, (void *)(uintptr_t)(f->nplaces + 1)) ? 0 : ++f->nplaces;
}

int64_t flame_place_shown(const struct flame *f, const struct code *code)
{
	uint32_t n = find_place(f, code, place_hash(code));

	return n ? (int64_t)f->places[n - 1].shown - 1 : -1;
}

/* 0: no memory; no child is node 0. */
static uint32_t child_of(struct flame *f, uint32_t parent, uint32_t place)
{
	uint64_t key = map_pair(parent, place);
	uint32_t n = (uintptr_t)map_get(&f->children, key);

	if (n)
		return n;
	if (!ARRAY_ROOM(f->nodes, f->nnodes, f->nodes_size) || map_put(&f->children, key, (void *)(uintptr_t)f->nnodes))
		return 0;
	f->nodes[f->nnodes] = (struct flame_node){ .parent = parent, .place = place };
	return f->nnodes++;
}

/* Finds the node of each of the call tree's: that of a root is node 0. */
static int join_paths(struct flame *f)
{
	struct map places = { 0 }; /* struct code -> place: most paths end in a function that was seen before */
	uint32_t npaths, *paths = calltree_paths(f->tree, &npaths);
	int err = paths ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < npaths && !err; i++) {
		const struct call_node *n = &f->tree->nodes[paths[i]];
		uint32_t place = (uintptr_t)map_get(&places, (uintptr_t)n->code), *node = &f->node_of[paths[i]];

		if (!place) {
			place = place_of(f, n->code);
			err = place ? map_put(&places, (uintptr_t)n->code, (void *)(uintptr_t)place) : -ENOMEM;
		}
		if (!err)
			*node = child_of(f, f->node_of[n->parent], place - 1);
		err = err ?: *node ? 0 : -ENOMEM;
	}
	free(paths);
	map_free(&places);
	return err;
}

static struct flame_values values_of(const struct calltree *t, uint32_t node)
{
	const struct call_node *n = &t->nodes[node];
	struct off off = calltree_self_off(t, node);

	return (struct flame_values){ {
		[FLAME_WALL] = n->self_ns,
		[FLAME_WAITING] = off.waiting_ns,
		[FLAME_PREEMPTED] = off.ns - off.waiting_ns,
		[FLAME_CALLS] = n->calls,
		[FLAME_CYCLES] = n->self_cycles,
	} };
}

void flame_add(struct flame_values *to, const struct flame_values *more)
{
	for (int i = 0; i < FLAME_VALUES; i++)
		to->of[i] += more->of[i];
}

/* With all below it. */
static struct flame_values *totals(const struct flame *f)
{
	struct flame_values *all = calloc(f->nnodes, sizeof(*all));

	for (uint32_t i = 1; all && i < f->tree->nnodes; i++)
		if (f->tree->nodes[i].code) {
			struct flame_values own = values_of(f->tree, i);

			flame_add(&all[f->node_of[i]], &own);
		}
	for (uint32_t i = f->nnodes; all && --i > 0;)
		flame_add(&all[f->nodes[i].parent], &all[i]);
	return all;
}

static bool is_wide(const struct flame_values *v, const struct flame_values *whole, uint32_t parts)
{
	for (int i = 0; i < FLAME_VALUES; i++)
		if (v->of[i] && v->of[i] >= whole->of[i] / parts)
			return true;
	return false;
}

static uint32_t count_wide(const struct flame *f, const struct flame_values *all, uint32_t parts)
{
	uint32_t n = 1;

	for (uint32_t i = 1; i < f->nnodes; i++)
		n += is_wide(&all[i], &all[0], parts);
	return n;
}

static void show(struct flame *f, uint32_t node)
{
	struct flame_place *place;

	f->nodes[node].of = (int32_t)f->nshown;
	f->shown[f->nshown++] = node;
	if (!node) /* the root is no place; a recording without calls has none */
		return;
	place = &f->places[f->nodes[node].place];
	if (!place->shown) {
		f->shown_places[f->nshown_places++] = f->nodes[node].place;
		place->shown = f->nshown_places;
	}
}

/* A recursion is as deep as the trace is long: nobody may have to look for the caller that is shown. */
static void cut(struct flame *f, uint32_t node)
{
	int32_t above = f->nodes[f->nodes[node].parent].of;

	f->nodes[node].of = above < 0 ? above : ~above;
}

/* What is below a path is never wider, so that all callers of what is shown are shown. */
static int choose(struct flame *f)
{
	struct flame_values *all = totals(f);
	uint32_t n = 0;

	if (!all)
		return -ENOMEM;
	for (f->parts = FLAME_PARTS; (n = count_wide(f, all, f->parts)) > FLAME_NODES && f->parts > 1;)
		f->parts /= 2;
	f->shown = calloc(n, sizeof(*f->shown));
	f->shown_places = calloc(n, sizeof(*f->shown_places));
	for (uint32_t i = 0; f->shown && f->shown_places && i < f->nnodes; i++)
		(!i || is_wide(&all[i], &all[0], f->parts) ? show : cut)(f, i);
	free(all);
	return f->shown && f->shown_places ? 0 : -ENOMEM;
}

int flame_make(struct flame *f, const struct calltree *tree)
{
	int err;

	*f = (struct flame){ .tree = tree };
	f->node_of = calloc(tree->nnodes + 1, sizeof(*f->node_of));
	if (!f->node_of || !ARRAY_ROOM(f->nodes, f->nnodes, f->nodes_size))
		return -ENOMEM;
	f->nodes[f->nnodes++] = (struct flame_node){ 0 };
	err = join_paths(f);
	map_free(&f->children);
	return err ?: choose(f);
}

void flame_free(struct flame *f)
{
	map_free(&f->names);
	map_free(&f->children);
	free(f->nodes);
	free(f->places);
	free(f->node_of);
	free(f->shown);
	free(f->shown_places);
	*f = (struct flame){ 0 };
}

int flame_view_make(struct flame_view *v, const struct flame *f)
{
	v->own = calloc(f->nshown, sizeof(*v->own));
	v->cut = calloc(f->nshown, sizeof(*v->cut));
	return v->own && v->cut ? 0 : -ENOMEM;
}

void flame_view_free(struct flame_view *v)
{
	free(v->own);
	free(v->cut);
	*v = (struct flame_view){ 0 };
}

struct adding {
	struct flame_view *v;
	const struct flame *f;
};

void flame_view_put(struct flame_view *v, const struct flame *f, uint32_t node, const struct flame_values *own)
{
	int32_t of = f->nodes[f->node_of[node]].of;

	flame_add(of < 0 ? &v->cut[~of] : &v->own[of], own);
}

static int add_node(void *to, uint32_t node)
{
	const struct adding *a = to;
	struct flame_values own = values_of(a->f->tree, node);

	flame_view_put(a->v, a->f, node, &own);
	return 0;
}

int flame_view_add(struct flame_view *v, const struct flame *f, uint32_t root)
{
	struct adding a = { v, f };

	return calltree_walk(f->tree, root, add_node, NULL, &a);
}

void flame_view_outside(struct flame_view *v, const struct flame *f, const struct flame_values *all)
{
	struct flame_values inside = { 0 };

	v->own[0] = (struct flame_values){ 0 };
	for (uint32_t i = 0; i < f->nshown; i++) {
		flame_add(&inside, &v->own[i]);
		flame_add(&inside, &v->cut[i]);
	}
	for (int i = 0; i < FLAME_VALUES; i++)
		v->own[0].of[i] = all->of[i] > inside.of[i] ? all->of[i] - inside.of[i] : 0;
}

static struct flame_values of_time(uint64_t ns, uint64_t cycles, struct off off)
{
	return (struct flame_values){ {
		[FLAME_WALL] = ns,
		[FLAME_WAITING] = off.waiting_ns,
		[FLAME_PREEMPTED] = off.ns - off.waiting_ns,
		[FLAME_CYCLES] = cycles,
	} };
}

struct flame_values flame_all(const struct profile *p)
{
	return of_time(p->traced_ns, p->traced_cycles, p->traced_off);
}

/* Cycles outside of functions are not known of single threads. */
struct flame_values flame_thread(const struct thread_total *t)
{
	return of_time(t->wall_ns, 0, t->off);
}
