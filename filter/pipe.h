/* SPDX-License-Identifier: MIT */
/*
 * pipe.h - words, or samples, from the thread that decodes packets to the thread that analyses them.
 *
 * Blocks of them go there and come back; neither side waits for a single one. The writer takes the one that came back
 * last, so that no more of them are touched than were ever on their way at once. A word is 16 or 24 bytes and a sample
 * 64, so samples are made behind the pipe, except where recovering instructions from branches (recover.h) takes as long
 * as all the rest.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/words.h"
#include "model/sample.h"

/* A sleep of either side lasts half of these, so that waking it costs next to nothing. */
#define PIPE_BLOCKS  32
#define PIPE_SAMPLES 1024

struct pipe_block {
	uint32_t n; /* samples */
	union {
		struct sample samples[PIPE_SAMPLES];
		struct words words;
	};
};

struct pipe {
	pthread_mutex_t lock;		      /* of the next ones */
	pthread_cond_t filled, emptied;	      /* half of the blocks */
	uint32_t wrote, taken;		      /* blocks passed on, and given back */
	bool ended, closed;		      /* by the writer; by the reader, who wants no more */
	bool reading, waits;		      /* the reader's: it has a block; it waits until half of them are there */
	uint32_t nfree;			      /* blocks that nobody has, */
	struct pipe_block *free[PIPE_BLOCKS]; /* the one to be taken first behind the others */
	struct pipe_block *passed[PIPE_BLOCKS]; /* those that were passed on, from `taken` on; a ring */
	struct pipe_block *writing;		/* the writer's */
	struct pipe_block blocks[PIPE_BLOCKS];
};

/* p must be zeroed: it is too large for a stack. 0 or a negative errno. */
int pipe_init(struct pipe *p);
void pipe_free(struct pipe *p);

/* The writer: passes a full block on. False: no more is wanted. */
bool pipe_turn(struct pipe *p);

/* The writer: where its next sample goes. */
static inline struct sample *pipe_room(struct pipe *p)
{
	return &p->writing->samples[p->writing->n];
}

/* The writer: that sample is there. False: no more is wanted. */
static inline bool pipe_put(struct pipe *p)
{
	return ++p->writing->n < PIPE_SAMPLES || pipe_turn(p);
}

/* The writer: the end of the room for its next samples. */
static inline struct sample *pipe_end_of_room(struct pipe *p)
{
	return p->writing->samples + PIPE_SAMPLES;
}

/* The writer: there are samples up to here. False: no more is wanted. */
static inline bool pipe_put_up_to(struct pipe *p, const struct sample *end)
{
	p->writing->n = end - p->writing->samples;
	return p->writing->n < PIPE_SAMPLES || pipe_turn(p);
}

/* The writer: the room for its next words, instead of samples; it turns when that is full. */
static inline struct words *pipe_words(struct pipe *p)
{
	return &p->writing->words;
}

/* The writer: no more will come. */
void pipe_end(struct pipe *p);

/* The reader: the next block, NULL at the end. The previous one is given back. */
struct pipe_block *pipe_get(struct pipe *p);

/* The reader: no more is wanted. */
void pipe_close(struct pipe *p);
