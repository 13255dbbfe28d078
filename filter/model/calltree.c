// SPDX-License-Identifier: MIT
/*
 * Nodes lie in one array and refer to each other by index, so that it can grow. Most calls repeat the previous one:
 * each node remembers its last child, and only others are looked up.
 */
#include "calltree.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

/* Node and code id in one key: ids have 24 bits (marker.h), and are unique below one root. */
#define CODE_BITS 24

static uint32_t add_node(struct calltree *t, uint32_t parent, struct code *code)
{
	if (t->nnodes == t->size) {
		uint32_t size = t->size ? t->size + t->size / 2 : 64;
		struct call_node *nodes = size > t->size ? realloc(t->nodes, size * sizeof(*nodes)) : NULL;

		if (!nodes)
			return CALLTREE_NONE;
		t->nodes = nodes;
		t->size = size;
		t->nnodes += !t->nnodes; /* number 0 */
	}
	t->nodes[t->nnodes] = (struct call_node){ .parent = parent, .code = code };
	return t->nnodes++;
}

/* The last child of its parent, under that key. CALLTREE_NONE: no memory. */
static uint32_t add_below(struct calltree *t, uint32_t parent, struct code *code, struct map *in, uint64_t key)
{
	uint32_t n = add_node(t, parent, code);
	struct call_node *p;

	if (!n || map_put(in, key, (void *)(uintptr_t)n))
		return CALLTREE_NONE;
	p = &t->nodes[parent];
	t->nodes[n].group = p->group;
	if (p->last)
		t->nodes[p->last].next = n;
	else
		p->first = n;
	return p->last = n;
}

static uint32_t add_child(struct calltree *t, uint32_t parent, struct code *code, uint64_t key)
{
	return add_below(t, parent, code, &t->children, key);
}

/* Below a node of another group, where the group is that one. CALLTREE_NONE: no memory. */
static __attribute__((noinline)) uint32_t edge_of(struct calltree *t, uint32_t parent, uint32_t group)
{
	uint64_t key = map_pair(parent, group);
	uint32_t n = (uintptr_t)map_get(&t->edges, key);

	if (n)
		return n;
	n = add_below(t, parent, NULL, &t->edges, key);
	if (n)
		t->nodes[n].group = group;
	return n;
}

static bool is_edge(const struct call_node *n)
{
	return !n->code && n->parent;
}

/* What lies between a function and its caller has its times, too; its caller is where the stack is. */
void calltree_leave_edge(struct calltree *t, struct call_root *r, const struct activation *a, uint64_t end_ns,
			 uint64_t end_cycles)
{
	struct call_node *edge = &t->nodes[r->current];

	if (!is_edge(edge))
		return;
	edge->ns += end_ns - a->start_ns;
	edge->cycles += end_cycles - a->start_cycles;
	off_add(&edge->off, a->off);
	r->current = edge->parent;
}

static uint32_t child_of(struct calltree *t, uint32_t parent, struct code *code, uint64_t ns)
{
	uint32_t n = t->nodes[parent].hot;
	uint64_t key = (uint64_t)parent << CODE_BITS | code->id;

	if (n && t->nodes[n].code == code)
		return n;
	n = (uintptr_t)map_get(&t->children, key);
	if (!n) {
		n = add_child(t, parent, code, key);
		t->nodes[n].born_ns = ns;
	}
	t->nodes[parent].hot = n;
	return n;
}

/* A root of its own, or that of the process. CALLTREE_NONE: no memory. */
static uint32_t root_node(struct calltree *t, int32_t pid)
{
	uint32_t node = (uintptr_t)map_get(&t->processes, (uint32_t)pid);

	if (node)
		return node;
	node = add_node(t, CALLTREE_NONE, NULL);
	if (t->by_process && node && map_put(&t->processes, (uint32_t)pid, (void *)(uintptr_t)node))
		return CALLTREE_NONE;
	return node;
}

struct call_root *calltree_root_made(struct calltree *t, struct call_root *r)
{
	if (r && !r->root)
		r->root = r->current = root_node(t, r->tstate.pid);
	return r && r->root ? r : NULL;
}

uint32_t calltree_child(struct calltree *t, uint32_t parent, const struct activation *a, uint32_t group)
{
	uint32_t n = t->nodes[parent].group == group ? parent : edge_of(t, parent, group);

	return n ? child_of(t, n, a->code, a->start_ns) : CALLTREE_NONE;
}

int calltree_resume(struct calltree *t, const struct activation *a)
{
	struct call_root *r = calltree_root_of(t, a);

	if (!r)
		return -ENOMEM;
	t->nodes[r->current].resumes++;
	return 0;
}

/* What has ended was called in a span, if the innermost open one is where the thread is now. */
void calltree_add_inner(struct call_root *r, uint64_t ns, uint64_t cycles)
{
	struct call_span *in = r->nspans ? &r->spans[r->nspans - 1] : NULL;

	if (!in || in->node != r->current)
		return;
	in->inner_ns += ns;
	in->inner_cycles += cycles;
}

int calltree_begin_span(struct calltree *t, const struct label_mark *m)
{
	struct call_root *r = calltree_root(t, m->pid, m->tid, m->interpreter);
	uint32_t n = r ? child_of(t, r->current, (struct code *)m->name, m->ns) : CALLTREE_NONE;

	if (!n || !ARRAY_ROOM(r->spans, r->nspans, r->spans_size))
		return -ENOMEM;
	r->spans[r->nspans++] = (struct call_span){ .node = n, .start_ns = m->ns, .start_cycles = m->cycles };
	r->current = n;
	return 0;
}

/* The innermost function that the node is in; 0: none. */
static uint32_t function_around(const struct calltree *t, uint32_t node)
{
	while (t->nodes[node].code && t->nodes[node].code->label)
		node = t->nodes[node].parent;
	return node;
}

int calltree_end_span(struct calltree *t, const struct label_mark *m)
{
	struct call_root *r = calltree_root(t, m->pid, m->tid, m->interpreter);
	struct call_span s;
	struct call_node *n, *in;

	if (!r)
		return -ENOMEM;
	if (!r->nspans || r->spans[r->nspans - 1].node != r->current || t->nodes[r->current].code != m->name)
		return 0; /* its beginning was not passed on */
	s = r->spans[--r->nspans];
	n = &t->nodes[s.node];
	in = &t->nodes[function_around(t, s.node)];
	r->current = n->parent;
	calltree_add_inner(r, m->ns - s.start_ns, m->cycles - s.start_cycles);
	n->ns += m->ns - s.start_ns;
	n->cycles += m->cycles - s.start_cycles;
	n->self_ns += m->ns - s.start_ns - s.inner_ns;
	n->self_cycles += m->cycles - s.start_cycles - s.inner_cycles;
	in->self_ns -= m->ns - s.start_ns - s.inner_ns; /* it gets all of that when it ends */
	in->self_cycles -= m->cycles - s.start_cycles - s.inner_cycles;
	return 0;
}

struct off calltree_self_off(const struct calltree *t, uint32_t node)
{
	struct off self = t->nodes[node].off;

	for (uint32_t i = t->nodes[node].first; i; i = t->nodes[i].next)
		self = off_minus(self, t->nodes[i].off);
	return self;
}

int calltree_pass(struct calltree *t, const struct activation *a, uint64_t end_ns, uint64_t end_cycles)
{
	struct call_root *r = calltree_root_of(t, a);
	struct call_node *n;

	if (!r)
		return -ENOMEM;
	n = &t->nodes[r->current];
	n->self_ns += end_ns - a->start_ns - a->callee_ns;
	n->self_cycles += end_cycles - a->start_cycles - a->callee_cycles;
	return 0;
}

/* Leaves `at` and what ends with it, and finds the next node. */
static int go_on(const struct calltree *t, uint32_t root, uint32_t *at, calltree_visit leave, void *to)
{
	int err = 0;

	for (; *at != root && !err; *at = t->nodes[*at].parent) {
		err = leave ? leave(to, *at) : 0;
		if (t->nodes[*at].next) {
			*at = t->nodes[*at].next;
			break;
		}
	}
	return err;
}

int calltree_walk(const struct calltree *t, uint32_t root, calltree_visit enter, calltree_visit leave, void *to)
{
	uint32_t at = t->nodes[root].first;
	int err = 0;

	while (at && at != root && !err) {
		err = enter(to, at);
		if (!err && t->nodes[at].first)
			at = t->nodes[at].first;
		else if (!err)
			err = go_on(t, root, &at, leave, to);
	}
	return err;
}

struct merging {
	struct calltree *to;
	const struct calltree *from;
	uint32_t at; /* node of `to` */
	calltree_number number;
	void *of;
};

static uint32_t child_numbered(struct calltree *t, uint32_t parent, struct code *code, uint32_t number)
{
	uint64_t key = map_pair(parent, number);
	uint32_t n = (uintptr_t)map_get(&t->children, key);

	return n ? n : add_child(t, parent, code, key);
}

static void add_costs(struct call_node *to, const struct call_node *from)
{
	to->calls += from->calls;
	to->resumes += from->resumes;
	to->ns += from->ns;
	to->cycles += from->cycles;
	to->self_ns += from->self_ns;
	to->self_cycles += from->self_cycles;
	off_add(&to->off, from->off);
}

static int merge_enter(void *to, uint32_t node)
{
	struct merging *m = to;
	const struct call_node *from = &m->from->nodes[node];
	int64_t number = m->number(m->of, from->code);
	uint32_t n;

	if (number == CALLTREE_PASS) {
		m->to->nodes[m->at].self_ns += from->self_ns;
		m->to->nodes[m->at].self_cycles += from->self_cycles;
		return 0;
	}
	n = number < 0 ? CALLTREE_NONE : child_numbered(m->to, m->at, from->code, number);
	if (!n)
		return -ENOMEM;
	add_costs(&m->to->nodes[n], from);
	m->at = n;
	return 0;
}

static int merge_leave(void *to, uint32_t node)
{
	struct merging *m = to;

	if (m->number(m->of, m->from->nodes[node].code) != CALLTREE_PASS)
		m->at = m->to->nodes[m->at].parent;
	return 0;
}

int calltree_merge(struct calltree *to, uint32_t *to_root, const struct calltree *from, uint32_t root,
		   calltree_number number, void *of)
{
	struct merging m = { .to = to, .from = from, .number = number, .of = of };

	if (!*to_root)
		*to_root = add_node(to, CALLTREE_NONE, NULL);
	m.at = *to_root;
	return *to_root ? calltree_walk(from, root, merge_enter, merge_leave, &m) : -ENOMEM;
}

static int by_place(const void *left, const void *right)
{
	const struct call_root *a = *(struct call_root *const *)left;
	const struct call_root *b = *(struct call_root *const *)right;
	const struct tstate *x = &a->tstate, *y = &b->tstate;
	int order = (x->pid > y->pid) - (x->pid < y->pid);

	order = order ?: (x->tid > y->tid) - (x->tid < y->tid);
	return order ? order : (x->interpreter > y->interpreter) - (x->interpreter < y->interpreter);
}

static size_t collect(const struct calltree *t, const struct call_root **to)
{
	size_t n = 0;

	for (const struct tstate *s = t->roots.all; s; s = s->next, n++)
		if (to)
			to[n] = (const struct call_root *)s;
	return n;
}

/* Shared roots are neighbours: those of one process. How many are left. */
static size_t drop_shared(const struct call_root **roots, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || roots[kept - 1]->root != roots[i]->root)
			roots[kept++] = roots[i];
	return kept;
}

const struct call_root **calltree_roots(const struct calltree *t, size_t *n)
{
	const struct call_root **roots;

	*n = collect(t, NULL);
	roots = calloc(*n + 1, sizeof(*roots));
	if (!roots)
		return NULL;
	collect(t, roots);
	qsort(roots, *n, sizeof(*roots), by_place);
	*n = drop_shared(roots, *n);
	return roots;
}

static void free_root(struct tstate *s)
{
	free(((struct call_root *)s)->spans);
}

void calltree_complete(struct calltree *t)
{
	map_free(&t->processes);
	map_free(&t->children);
	map_free(&t->edges);
}

void calltree_free(struct calltree *t)
{
	tstates_free(&t->roots, free_root);
	calltree_complete(t);
	free(t->nodes);
	*t = (struct calltree){ 0 };
}
