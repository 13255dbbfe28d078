// SPDX-License-Identifier: MIT
/* Loads one chunk after another; the walk sees one trace. */
#include "pt_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pt_overlap.h"

int pt_queue_add(struct pt_queue *q, const struct pt_chunk *chunk)
{
	struct pt_chunk *chunks = q->chunks;

	if (!chunk->size)
		return 0;
	if (!(q->nchunks & (q->nchunks - 1))) /* full when the number is a power of two */
		chunks = realloc(chunks, (q->nchunks ? 2 * q->nchunks : 1) * sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	q->chunks = chunks;
	chunks[q->nchunks++] = *chunk;
	return 0;
}

/* *bytes: where the chunk is. */
static int load(struct loaded *l, const struct pt_queue *q, const struct pt_chunk *c, struct pt_span *bytes)
{
	int err = loaded_get(l, q->fd, c->at, c->size);

	*bytes = (struct pt_span){ l->bytes, err ? l->bytes : l->bytes + c->size };
	return err;
}

/* Removes from `bytes` what the previous chunk had. *anew: it does not continue that. */
static int cut_overlap(struct pt_queue *q, struct pt_span *bytes, bool *anew)
{
	struct loaded before = { 0 };
	struct pt_span old = { 0 };
	bool continues = false;
	int err = load(&before, q, &q->chunks[q->next - 2], &old);

	if (!err)
		bytes->p = pt_overlap(old, *bytes, &continues);
	*anew = !continues;
	loaded_drop(&before);
	return err;
}

static int open_chunk(struct pt_queue *q)
{
	const struct pt_chunk *c = &q->chunks[q->next++];
	bool anew = q->next == 1;
	struct pt_span bytes;
	int err = load(&q->loaded, q, c, &bytes);

	if (!err && !anew && q->may_overlap)
		err = cut_overlap(q, &bytes, &anew);
	if (!err && bytes.p < bytes.end)
		pt_walk_chunk(&q->walk, bytes.p, bytes.end, c->reference, anew);
	return err;
}

/* Continues after a step that is not a word. */
static __attribute__((noinline)) int go_on(struct pt_queue *q, int step)
{
	int err;

	while (step == STEP_END && q->next < q->nchunks) {
		err = open_chunk(q);
		if (err)
			return err;
		step = pt_walk_next(&q->walk);
	}
	q->overflows += step == STEP_OVERFLOW;
	q->damages += step == STEP_DAMAGE;
	if (step == STEP_END)
		loaded_drop(&q->loaded);
	return step;
}

int pt_queue_next(struct pt_queue *q)
{
	int step = pt_walk_next(&q->walk);

	return step == STEP_WORD || step == STEP_ROWS || step == STEP_WORDS ? step : go_on(q, step);
}

void pt_queue_rest(struct pt_queue *q)
{
	if (!q->loaded.bytes)
		return;
	q->rests = true;
	q->rests_at = q->walk.p - q->loaded.bytes;
	q->rests_for = q->walk.end - q->walk.p;
	loaded_drop(&q->loaded);
}

int pt_queue_wake(struct pt_queue *q)
{
	struct pt_span bytes;
	int err = q->rests ? load(&q->loaded, q, &q->chunks[q->next - 1], &bytes) : 0;

	if (err || !q->rests)
		return err;
	q->walk.p = bytes.p + q->rests_at;
	q->walk.end = q->walk.p + q->rests_for;
	q->rests = false;
	return 0;
}

/* The last one stays: a queue that rests returns to it. */
void pt_queue_forget(struct pt_queue *q)
{
	if (q->next < 2 || q->may_overlap)
		return;
	q->nchunks -= q->next - 1;
	memmove(q->chunks, q->chunks + q->next - 1, q->nchunks * sizeof(*q->chunks));
	q->next = 1;
}

void pt_queue_free(struct pt_queue *q)
{
	loaded_drop(&q->loaded);
	free(q->chunks);
	free(q->walk.breaks);
	free(q->walk.rows);
}
