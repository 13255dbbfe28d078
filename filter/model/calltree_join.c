// SPDX-License-Identifier: MIT
/* Processes, and threads without a common root, have no path in common, so that nodes are only moved. */
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
	uint32_t stack; /* in the order of calltree_roots() */
	uint32_t node;
};

static int by_birth(const void *left, const void *right)
{
	const struct birth *a = left, *b = right;
	int order = (a->ns > b->ns) - (a->ns < b->ns);

	order = order ?: (a->stack > b->stack) - (a->stack < b->stack);
	return order ?: (a->node > b->node) - (a->node < b->node);
}

/* Of all nodes: [nnodes]. Of a stack the order is that in which they came, whatever their times are. */
static void find_births(const struct calltree *t, struct birth *all, const struct call_root **stacks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		all[stacks[i]->root].stack = (uint32_t)i;
	for (uint32_t i = 1; i < t->nnodes; i++) {
		uint32_t parent = t->nodes[i].parent, stack = parent ? all[parent].stack : all[i].stack;
		uint64_t ns = t->nodes[i].born_ns, *latest = &all[stacks[stack]->root].ns;

		*latest = ns > *latest ? ns : *latest;
		all[i] = (struct birth){ *latest, stack, i };
	}
}

uint32_t *calltree_paths(const struct calltree *t, uint32_t *n)
{
	uint32_t *paths = calloc(t->nnodes + 1, sizeof(*paths));
	struct birth *all = calloc(t->nnodes + 1, sizeof(*all));
	size_t nstacks = 0;
	const struct call_root **stacks = paths && all ? calltree_roots(t, &nstacks) : NULL;

	*n = 0;
	if (stacks)
		find_births(t, all, stacks, nstacks);
	if (nstacks > 1)
		qsort(all + 1, t->nnodes - 1, sizeof(*all), by_birth);
	for (uint32_t i = 1; i < t->nnodes && stacks; i++)
		if (t->nodes[all[i].node].code)
			paths[(*n)++] = all[i].node;
	free(all);
	if (!stacks) {
		free(paths);
		paths = NULL;
	}
	free(stacks);
	return paths;
}
