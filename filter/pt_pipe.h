/* SPDX-License-Identifier: MIT */
/*
 * pt_pipe.h - words from the thread that decodes packets to the thread that analyses events.
 *
 * Analysing costs about twice what decoding does, and needs nothing of it but the words; with a core
 * for each, decoding is free. Blocks of words go around in a ring; nobody waits for a single word.
 */
#ifndef OCULAR_PT_PIPE_H
#define OCULAR_PT_PIPE_H

#include <semaphore.h>
#include <stdatomic.h>

#include "decode.h"

#define PIPE_BLOCKS 4
#define PIPE_WORDS  4096

enum pipe_kind { PIPE_WORD, PIPE_BRANCH, PIPE_ENTER, PIPE_OVERFLOW };

struct pt_block {
	uint32_t n;
	bool last;
	bool gap; /* after its words, some of gap_pid, gap_tid may be missing */
	int32_t gap_pid, gap_tid;
	uint8_t kinds[PIPE_WORDS]; /* enum pipe_kind, of a pipe with branches */
	struct word words[PIPE_WORDS];
};

struct pt_pipe {
	sem_t empty, full;  /* blocks */
	atomic_bool closed; /* by the reader: nothing more is wanted */
	uint32_t writing;   /* index of the writer's block */
	struct pt_block *read; /* the reader's, NULL before the first */
	struct pt_block blocks[PIPE_BLOCKS];
};

/* *p is zeroed: it is too large for a stack. */
void pt_pipe_init(struct pt_pipe *p);

/* The writer: hands a full block over. False: nothing more is wanted. */
bool pt_pipe_turn(struct pt_pipe *p);

/* The writer: room for a word, NULL if nothing more is wanted. */
static inline struct word *pt_pipe_put(struct pt_pipe *p)
{
	struct pt_block *b = &p->blocks[p->writing];

	if (b->n == PIPE_WORDS) {
		if (!pt_pipe_turn(p))
			return NULL;
		b = &p->blocks[p->writing];
	}
	return &b->words[b->n++];
}

/* The same for what is no word, or in a pipe where not all are. */
static inline struct word *pt_pipe_put_kind(struct pt_pipe *p, enum pipe_kind kind)
{
	struct word *w = pt_pipe_put(p);
	struct pt_block *b = &p->blocks[p->writing];

	if (w)
		b->kinds[w - b->words] = kind;
	return w;
}

/* The writer: a gap. False: nothing more is wanted. */
bool pt_pipe_gap(struct pt_pipe *p, int32_t pid, int32_t tid);

/* The writer: no more will come. */
void pt_pipe_end(struct pt_pipe *p);

/* The reader: the next block, NULL at the end. The one before it is given back. */
struct pt_block *pt_pipe_get(struct pt_pipe *p);

/* The reader: nothing more is wanted. */
void pt_pipe_close(struct pt_pipe *p);

#endif
