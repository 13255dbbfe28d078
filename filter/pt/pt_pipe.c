// SPDX-License-Identifier: MIT
/* Two semaphores count the blocks; each side owns its index. */
#include "pt_pipe.h"

void pt_pipe_init(struct pt_pipe *p)
{
	sem_init(&p->empty, 0, PIPE_BLOCKS - 1); /* one is being written from the start */
	sem_init(&p->full, 0, 0);
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s)) /* interrupted by a signal */
		;
}

bool pt_pipe_turn(struct pt_pipe *p)
{
	struct pt_block *b;

	sem_post(&p->full);
	wait_for(&p->empty);
	p->writing = (p->writing + 1) % PIPE_BLOCKS;
	b = &p->blocks[p->writing];
	b->n = 0;
	return !atomic_load(&p->closed);
}

void pt_pipe_end(struct pt_pipe *p)
{
	p->blocks[p->writing].last = true;
	sem_post(&p->full);
}

struct pt_block *pt_pipe_get(struct pt_pipe *p)
{
	if (p->read && p->read->last)
		return NULL;
	if (p->read)
		sem_post(&p->empty);
	wait_for(&p->full);
	if (!p->read || ++p->read == p->blocks + PIPE_BLOCKS)
		p->read = p->blocks;
	return p->read;
}

void pt_pipe_close(struct pt_pipe *p)
{
	atomic_store(&p->closed, true);
	sem_post(&p->empty);
}
