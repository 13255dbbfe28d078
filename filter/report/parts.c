// SPDX-License-Identifier: MIT
/* Times are of activations when they end; what their callees were off is not known to them and is added up here. */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

/* A thread state: the outermost coroutine, and what callees of the open activations were off. */
struct place {
	struct tstate tstate;
	const struct code *task;
	uint32_t resumed; /* coroutines that are open */
	struct off *callees;
	uint32_t size;
};

static struct place *place_of(struct parts *p, const struct activation *a)
{
	return tstate_of(&p->threads, a->pid, a->tid, a->interpreter, sizeof(struct place));
}

static uint64_t key_of(const struct parts *p, const struct activation *a, const struct place *at)
{
	if (p->by == BY_TASK)
		return at->task ? (uintptr_t)at->task : 1;
	return map_pair(a->pid, p->by == BY_THREAD ? a->tid : 0);
}

static struct group *group_of(struct parts *p, const struct activation *a, const struct place *at)
{
	uint64_t key = key_of(p, a, at);
	struct group *g = map_get(&p->groups, key);

	if (g || !(g = map_add(&p->groups, key, sizeof(*g))))
		return g;
	g->number = p->groups.used;
	g->pid = a->pid;
	g->tid = a->tid;
	g->task = p->by == BY_TASK ? at->task : NULL;
	return g;
}

/* The function that is active, or a loop in it. */
static struct part *part_of(struct parts *p, const struct activation *a, const struct place *at,
			    const struct loop *loop)
{
	struct group *g = group_of(p, a, at);
	struct map *parts = !g ? NULL : loop ? &g->loops : &g->functions;
	uint64_t key = loop ? (uintptr_t)loop : (uintptr_t)a->code;
	struct part *part = g ? map_get(parts, key) : NULL;

	if (!g || part || !(part = map_add(parts, key, sizeof(*part))))
		return part;
	part->group = g;
	part->code = a->code;
	part->loop = loop;
	return part;
}

int parts_enter(struct parts *p, const struct activation *a)
{
	struct place *at = place_of(p, a);

	if (!at || (at->size < a->depth + 2 && !ARRAY_RESIZE(at->callees, 2 * a->depth + 2)))
		return -ENOMEM;
	if (at->size < a->depth + 2)
		at->size = 2 * a->depth + 2;
	at->callees[a->depth + 1] = (struct off){ 0 };
	if (!a->depth)
		at->callees[0] = (struct off){ 0 };
	if (a->code->coroutine && !at->resumed++)
		at->task = a->code;
	return 0;
}

int parts_leave(struct parts *p, const struct activation *a, uint64_t end_ns)
{
	struct place *at = place_of(p, a);
	struct part *part = at ? part_of(p, a, at, NULL) : NULL;

	if (!part)
		return -ENOMEM;
	part->n += a->op == OP_PY_START;
	part->own_ns += end_ns - a->start_ns - a->callee_ns;
	off_add(&part->own_off, off_minus(a->off, at->callees[a->depth + 1]));
	off_add(&at->callees[a->depth], a->off);
	at->resumed -= a->code->coroutine;
	if (!at->resumed)
		at->task = NULL;
	return 0;
}

int parts_iterate(struct parts *p, const struct trip *t)
{
	struct place *at = place_of(p, t->in);
	struct part *part = at ? part_of(p, t->in, at, t->loop) : NULL;

	if (!part)
		return -ENOMEM;
	part->n++;
	if (!t->timed)
		return 0;
	part->ns += t->ns;
	off_add(&part->off, t->off);
	part->own_ns += t->self_ns;
	off_add(&part->own_off, t->self_off);
	return stat_add(&part->cycles, t->cycles);
}

static void free_group(struct group *g)
{
	for (struct map_slot *s = NULL; (s = map_next(&g->loops, s));)
		stat_free(&((struct part *)s->value)->cycles);
	map_free_all(&g->loops);
	map_free_all(&g->functions);
}

static void release(struct tstate *tstate)
{
	free(((struct place *)tstate)->callees);
}

void parts_free(struct parts *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->groups, s));)
		free_group(s->value);
	map_free_all(&p->groups);
	tstates_free(&p->threads, release);
}
