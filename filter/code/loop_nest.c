// SPDX-License-Identifier: MIT
#include "loop_nest.h"

#include <errno.h>
#include <stdlib.h>

static bool is_back_edge(const struct code *code, const struct instr *in)
{
	return in->back_edge && in->target >= 0 && (uint32_t)in->target <= in->offset && code_head(code, in) >= 0;
}

static int by_head(const void *left, const void *right)
{
	const struct loop_nest_loop *a = left, *b = right;

	if (a->head == b->head)
		return (a->start > b->start) - (a->start < b->start);
	return a->head > b->head ? 1 : -1;
}

/* One loop for each head; its last target stays. */
static void merge(struct loop_nest *n, const struct code *code)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->nloops; i++) {
		uint32_t head = n->loops[i].head;

		if (!kept || n->loops[kept - 1].head != head)
			n->loops[kept++] = (struct loop_nest_loop){ .head = head, .extent = extent_of(code, head) };
		n->loops[kept - 1].start = n->loops[i].start;
	}
	n->nloops = kept;
}

/* The loop with the largest head below `limit` that has the offset. */
static int32_t innermost(const struct loop_nest *n, uint32_t offset, uint32_t limit)
{
	for (uint32_t i = n->nloops; i-- > 0;)
		if (n->loops[i].head < limit && n->loops[i].head <= offset && extent_has(&n->loops[i].extent, offset))
			return i;
	return LOOP_NEST_NONE;
}

int loop_nest_make(struct loop_nest *n, const struct code *code)
{
	*n = (struct loop_nest){ 0 };
	n->loops = calloc(code->ninstrs + 1, sizeof(*n->loops));
	n->of = calloc(code->ninstrs + 1, sizeof(*n->of));
	if (!n->loops || !n->of) {
		loop_nest_free(n);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < code->ninstrs; i++)
		if (is_back_edge(code, &code->instrs[i]))
			n->loops[n->nloops++] = (struct loop_nest_loop){ .head = code_head(code, &code->instrs[i]),
									 .start = code->instrs[i].target };
	qsort(n->loops, n->nloops, sizeof(*n->loops), by_head);
	merge(n, code);
	for (uint32_t i = 0; i < n->nloops; i++)
		n->loops[i].around = innermost(n, n->loops[i].head, n->loops[i].head);
	for (uint32_t i = 0; i < code->ninstrs; i++)
		n->of[i] = innermost(n, code->instrs[i].offset, UINT32_MAX);
	return 0;
}

int32_t loop_nest_find(const struct loop_nest *n, int64_t head)
{
	uint32_t low = 0, high = n->nloops;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (n->loops[mid].head < head)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n->nloops && n->loops[low].head == head ? (int32_t)low : LOOP_NEST_NONE;
}

bool loop_nest_within(const struct loop_nest *n, int32_t inner, int32_t outer)
{
	while (inner != LOOP_NEST_NONE && inner != outer)
		inner = n->loops[inner].around;
	return inner == outer;
}

void loop_nest_free(struct loop_nest *n)
{
	free(n->loops);
	free(n->of);
	*n = (struct loop_nest){ 0 };
}
