// SPDX-License-Identifier: MIT
/*
 * One walk over the tree, with counters of what is open: that shows recursion without a search, as in cProfile, which
 * counts while the program runs.
 */
#include "callers.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

struct summing {
	struct callers *c;
	const struct calltree *t;
	const struct map *same;	     /* callers_sum() */
	struct map functions, edges; /* code; caller and callee -> index + 1 */
	uint32_t functions_size, edges_size;
};

static struct call_function *function_at(struct summing *s, struct code *code)
{
	struct callers *c = s->c;
	uintptr_t found = (uintptr_t)map_get(&s->functions, (uintptr_t)code);

	if (found)
		return &c->functions[found - 1];
	if (!ARRAY_ROOM(c->functions, c->nfunctions, s->functions_size) ||
	    map_put(&s->functions, (uintptr_t)code, (void *)(uintptr_t)(c->nfunctions + 1)))
		return NULL;
	c->functions[c->nfunctions] = (struct call_function){ .code = code };
	return &c->functions[c->nfunctions++];
}

static struct call_edge *edge_at(struct summing *s, uint32_t caller, uint32_t callee)
{
	struct callers *c = s->c;
	uint64_t key = map_pair(caller, callee);
	uintptr_t found = (uintptr_t)map_get(&s->edges, key);

	if (found)
		return &c->edges[found - 1];
	if (!ARRAY_ROOM(c->edges, c->nedges, s->edges_size) ||
	    map_put(&s->edges, key, (void *)(uintptr_t)(c->nedges + 1)))
		return NULL;
	c->edges[c->nedges] = (struct call_edge){ .caller = caller, .callee = callee };
	return &c->edges[c->nedges++];
}

/* first: among all that are the same, the one that counts what is open. */
static void open_sum(struct call_sum *sum, struct call_sum *first, const struct call_node *n)
{
	uint64_t calls = n->calls + n->resumes;

	sum->calls += calls;
	sum->recursive += sum->open++ ? calls : 0;
	if (!first->same_open++) {
		sum->total_ns += n->ns;
		sum->total_cycles += n->cycles;
	}
	sum->self_ns += n->self_ns;
	sum->self_cycles += n->self_cycles;
}

static void close_sum(struct call_sum *sum, struct call_sum *first)
{
	sum->open--;
	first->same_open--;
}

static struct code *first_of(const struct summing *s, struct code *code)
{
	struct code *first = s->same ? map_get(s->same, (uintptr_t)code) : NULL;

	return first ? first : code;
}

/* Indexes, because arrays move as they grow. */
struct place {
	uint32_t function, edge;
	bool called; /* there is an edge, so it is not a root's */
};

static int place_of(struct summing *s, struct code *code, struct code *caller, struct place *at)
{
	const struct call_function *f = function_at(s, code), *by;
	const struct call_edge *e;

	*at = (struct place){ .called = caller };
	if (!f)
		return -ENOMEM;
	at->function = f - s->c->functions;
	by = caller ? function_at(s, caller) : NULL;
	if (!caller)
		return 0;
	e = by ? edge_at(s, by - s->c->functions, at->function) : NULL;
	if (!e)
		return -ENOMEM;
	at->edge = e - s->c->edges;
	return 0;
}

/* Where a node is added up, and the first one that is the same. 0 or -ENOMEM. */
static int places_of(struct summing *s, const struct call_node *n, struct place *at, struct place *first)
{
	struct code *caller = s->t->nodes[n->parent].code;
	int err = place_of(s, n->code, caller, at);

	*first = *at;
	if (err || !s->same)
		return err;
	return place_of(s, first_of(s, n->code), caller ? first_of(s, caller) : NULL, first);
}

static struct call_sum *by_caller(struct callers *c, const struct place *at)
{
	return at->called ? &c->edges[at->edge].sum : &c->functions[at->function].uncalled;
}

static int enter(void *to, uint32_t node)
{
	struct summing *s = to;
	const struct call_node *n = &s->t->nodes[node];
	struct place at, first;
	int err = places_of(s, n, &at, &first);

	if (err)
		return err;
	open_sum(&s->c->functions[at.function].sum, &s->c->functions[first.function].sum, n);
	open_sum(by_caller(s->c, &at), by_caller(s->c, &first), n);
	return 0;
}

/* All of it was made on the way in. */
static int leave(void *to, uint32_t node)
{
	struct summing *s = to;
	struct place at, first;
	int err = places_of(s, &s->t->nodes[node], &at, &first);

	if (err)
		return err;
	close_sum(&s->c->functions[at.function].sum, &s->c->functions[first.function].sum);
	close_sum(by_caller(s->c, &at), by_caller(s->c, &first));
	return 0;
}

int callers_sum(struct callers *c, const struct calltree *t, const struct map *same)
{
	struct summing s = { .c = c, .t = t, .same = same };
	const struct call_root **roots;
	size_t n;
	int err;

	*c = (struct callers){ 0 };
	roots = calltree_roots(t, &n);
	err = roots ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = calltree_walk(t, roots[i]->root, enter, leave, &s);
	free(roots);
	map_free(&s.functions);
	map_free(&s.edges);
	return err;
}

void call_sum_add(struct call_sum *to, const struct call_sum *from)
{
	to->calls += from->calls;
	to->recursive += from->recursive;
	to->self_ns += from->self_ns;
	to->total_ns += from->total_ns;
	to->self_cycles += from->self_cycles;
	to->total_cycles += from->total_cycles;
}

void callers_free(struct callers *c)
{
	free(c->functions);
	free(c->edges);
	*c = (struct callers){ 0 };
}
