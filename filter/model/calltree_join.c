// SPDX-License-Identifier: MIT
/* Processes have no path in common, so that nodes are only moved. */
#include "calltree_join.h"

#include <errno.h>
#include <stdlib.h>

#include "code/codes_part.h"
#include "shared/array.h"

static uint32_t moved(uint32_t node, uint32_t by)
{
	return node ? node + by : CALLTREE_NONE;
}

static int join_nodes(struct calltree *to, const struct calltree *more, uint32_t by)
{
	if (!ARRAY_RESIZE(to->nodes, by + more->nnodes))
		return -ENOMEM;
	for (uint32_t i = 1; i < more->nnodes; i++) {
		struct call_node *n = &to->nodes[by + i];

		*n = more->nodes[i];
		n->parent = moved(n->parent, by);
		n->first = moved(n->first, by);
		n->last = moved(n->last, by);
		n->next = moved(n->next, by);
		n->hot = moved(n->hot, by);
		if (n->code && !(n->code = codes_same(n->code)))
			return -ENOMEM;
	}
	to->nnodes = to->size = by + more->nnodes;
	return 0;
}

static int join_root(struct calltree *to, const struct call_root *more, uint32_t by)
{
	const struct tstate *s = &more->tstate;
	struct call_root *r = tstate_of(&to->roots, s->pid, s->tid, s->interpreter, sizeof(*r));

	if (!r || r->root)
		return r ? -EAGAIN : -ENOMEM;
	r->root = r->current = moved(more->root, by);
	return 0;
}

int calltree_join(struct calltree *to, struct calltree *more, uint32_t *by)
{
	int err = 0;

	calltree_complete(to);
	calltree_complete(more);
	*by = to->nnodes ? to->nnodes - 1 : 0; /* neither uses number 0 */
	if (more->nnodes)
		err = join_nodes(to, more, *by);
	for (const struct tstate *s = more->roots.all; s && !err; s = s->next)
		err = join_root(to, (const struct call_root *)s, *by);
	calltree_free(more);
	return err;
}

struct birth {
	uint64_t ns;
	int32_t pid;
	uint32_t node;
};

static int by_birth(const void *left, const void *right)
{
	const struct birth *a = left, *b = right;
	int order = (a->ns > b->ns) - (a->ns < b->ns);

	order = order ?: (a->pid > b->pid) - (a->pid < b->pid);
	return order ?: (a->node > b->node) - (a->node < b->node);
}

/* Of all nodes: [nnodes]. Is it of several processes? */
static bool find_pids(const struct calltree *t, struct birth *all)
{
	const struct tstate *first = t->roots.all;
	bool several = false;

	for (const struct tstate *s = first; s; s = s->next) {
		all[((const struct call_root *)s)->root].pid = s->pid;
		several |= s->pid != first->pid;
	}
	for (uint32_t i = 1; i < t->nnodes; i++)
		if (t->nodes[i].parent)
			all[i].pid = all[t->nodes[i].parent].pid;
	return several;
}

/* In a process the order is that in which they came, whatever their times are. */
static int find_births(const struct calltree *t, struct birth *all)
{
	struct map latest = { 0 }; /* pid -> ns */
	int err = 0;

	for (uint32_t i = 1; i < t->nnodes && !err; i++) {
		uint64_t before = (uintptr_t)map_get(&latest, (uint32_t)all[i].pid);

		all[i].node = i;
		all[i].ns = t->nodes[i].born_ns > before ? t->nodes[i].born_ns : before;
		if (all[i].ns > before)
			err = map_put(&latest, (uint32_t)all[i].pid, (void *)(uintptr_t)all[i].ns);
	}
	map_free(&latest);
	return err;
}

uint32_t *calltree_paths(const struct calltree *t, uint32_t *n)
{
	uint32_t *paths = calloc(t->nnodes + 1, sizeof(*paths));
	struct birth *all = calloc(t->nnodes + 1, sizeof(*all));
	bool several = all && find_pids(t, all);
	int err = paths && all ? find_births(t, all) : -ENOMEM;

	*n = 0;
	if (several && !err)
		qsort(all + 1, t->nnodes - 1, sizeof(*all), by_birth);
	for (uint32_t i = 1; i < t->nnodes && !err; i++)
		if (t->nodes[all[i].node].code)
			paths[(*n)++] = all[i].node;
	free(all);
	if (!err)
		return paths;
	free(paths);
	return NULL;
}
