/* SPDX-License-Identifier: MIT */
/*
 * pt_pipe.h - samples from the thread that decodes to the thread that analyses them.
 *
 * Turning packets into samples and samples into totals costs about the same, and the two share only the samples, so
 * each has a thread. Blocks of samples go around in a ring; neither side waits for a single sample.
 */
#pragma once

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/sample.h"

/* All blocks together fit into the second-level cache of processors with Intel PT. */
#define PIPE_BLOCKS  4
#define PIPE_SAMPLES 1024

struct pt_block {
	uint32_t n;
	bool last;
	struct sample samples[PIPE_SAMPLES];
};

struct pt_pipe {
	sem_t empty, full;     /* blocks */
	atomic_bool closed;    /* set by the reader: it wants no more */
	uint32_t writing;      /* index of the writer's block */
	struct pt_block *read; /* the reader's, NULL before the first */
	struct pt_block blocks[PIPE_BLOCKS];
};

/* p must be zeroed: it is too large for a stack. */
void pt_pipe_init(struct pt_pipe *p);

/* The writer: passes a full block on. False: no more is wanted. */
bool pt_pipe_turn(struct pt_pipe *p);

/* The writer: where its next sample goes. */
static inline struct sample *pt_pipe_room(struct pt_pipe *p)
{
	struct pt_block *b = &p->blocks[p->writing];

	return &b->samples[b->n];
}

/* The writer: that sample is there. False: no more is wanted. */
static inline bool pt_pipe_put(struct pt_pipe *p)
{
	return ++p->blocks[p->writing].n < PIPE_SAMPLES || pt_pipe_turn(p);
}

/* The writer: the end of the room for its next samples. */
static inline struct sample *pt_pipe_end_of_room(struct pt_pipe *p)
{
	return p->blocks[p->writing].samples + PIPE_SAMPLES;
}

/* The writer: there are samples up to here. False: no more is wanted. */
static inline bool pt_pipe_put_up_to(struct pt_pipe *p, const struct sample *end)
{
	struct pt_block *b = &p->blocks[p->writing];

	b->n = end - b->samples;
	return b->n < PIPE_SAMPLES || pt_pipe_turn(p);
}

/* The writer: no more will come. */
void pt_pipe_end(struct pt_pipe *p);

/* The reader: the next block, NULL at the end. The previous one is given back. */
struct pt_block *pt_pipe_get(struct pt_pipe *p);

/* The reader: no more is wanted. */
void pt_pipe_close(struct pt_pipe *p);
