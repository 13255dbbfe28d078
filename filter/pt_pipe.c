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

struct pt_item *pt_pipe_put(struct pt_pipe *p)
{
	struct pt_block *b = &p->blocks[p->writing % PIPE_BLOCKS];

	if (b->n == PIPE_WORDS) {
		sem_post(&p->full);
		wait_for(&p->empty);
		if (atomic_load(&p->closed))
			return NULL;
		b = &p->blocks[++p->writing % PIPE_BLOCKS];
		b->n = 0;
	}
	return &b->items[b->n++];
}

void pt_pipe_end(struct pt_pipe *p)
{
	p->blocks[p->writing % PIPE_BLOCKS].last = true;
	sem_post(&p->full);
}

struct pt_block *pt_pipe_get(struct pt_pipe *p)
{
	if (p->reading) {
		if (p->blocks[(p->reading - 1) % PIPE_BLOCKS].last)
			return NULL;
		sem_post(&p->empty);
	}
	wait_for(&p->full);
	return &p->blocks[p->reading++ % PIPE_BLOCKS];
}

void pt_pipe_close(struct pt_pipe *p)
{
	atomic_store(&p->closed, true);
	sem_post(&p->empty);
}
