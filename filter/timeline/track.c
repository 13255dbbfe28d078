// SPDX-License-Identifier: MIT
#include "track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

struct span *track_push(struct track *t, const struct activation *a, uint64_t shown)
{
	struct span *span;

	if (!ARRAY_ROOM(t->spans, t->nspans, t->spans_size))
		return NULL;
	if (t->nspans)
		t->spans[t->nspans - 1].calls += a->op == OP_PY_START;
	span = &t->spans[t->nspans++];
	span_begin(span, a, shown);
	return span;
}

struct span *track_search(const struct track *t, const struct code *code)
{
	for (size_t i = t->nspans; i--;)
		if (t->spans[i].code == code)
			return &t->spans[i];
	return NULL;
}

void track_take(struct track *t, struct span *span)
{
	size_t at = span - t->spans;

	t->nwritten -= track_is_written(t, span);
	t->nspans--;
	if (at < t->nspans)
		memmove(span, span + 1, (t->nspans - at) * sizeof(*span));
	while (t->nedges && t->edges[t->nedges - 1].depth > t->nspans)
		t->nedges--;
}

uint64_t track_inside(struct track *t, uint64_t ns)
{
	const struct span *top = t->nspans ? &t->spans[t->nspans - 1] : NULL;

	if (top && !top->code->label && ns <= top->shown)
		ns = top->shown + 1;
	return track_at(t, ns);
}

/* The loop's edge, the loops inside it left; a new one has no time yet. */
static struct edge *edge_of(struct track *t, const struct loop *loop)
{
	struct edge *e;

	while (t->nedges && (e = &t->edges[t->nedges - 1])->depth == t->nspans) {
		if (e->loop == loop)
			return e;
		if (e->loop->head < loop->head)
			break;
		t->nedges--;
	}
	if (!ARRAY_ROOM(t->edges, t->nedges, t->edges_size))
		return NULL;
	e = &t->edges[t->nedges++];
	*e = (struct edge){ loop, t->nspans, UINT64_MAX };
	return e;
}

uint64_t track_edge(struct track *t, const struct loop *loop, uint64_t ns, int *err)
{
	struct edge *e = edge_of(t, loop);
	uint64_t before = e ? e->shown : UINT64_MAX;

	*err = e ? 0 : -ENOMEM;
	if (e)
		e->shown = ns;
	t->last_ns = ns + 1;
	return before;
}

void track_free(struct track *t)
{
	free(t->spans);
	free(t->edges);
	map_free_all(&t->loopings);
	free(t->ids.text);
	free(t);
}
