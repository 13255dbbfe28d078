// SPDX-License-Identifier: MIT
/*
 * Two counters of blocks under a lock, which is taken once a block. Whoever must wait sleeps until half of them are
 * there, or free: to be woken for each block costs more than the block. The reader also looks by itself.
 */
#include "pipe.h"

#include <time.h>

#define HALF	 (PIPE_BLOCKS / 2)
#define NS_PER_S 1000000000L

/*
 * So often: perf takes 1.5 ms to fill half of the blocks, and would have to wake the reader each time, which takes its
 * thread 11 us in a virtual machine. Whoever is faster wakes it, also if the clock is set back.
 */
#define PIPE_LOOKS_NS 1000000L

int pipe_init(struct pipe *p)
{
	int err = -pthread_mutex_init(&p->lock, NULL);

	for (uint32_t i = PIPE_BLOCKS; --i;)
		p->free[p->nfree++] = &p->blocks[i];
	p->writing = p->blocks;
	err = err ?: -pthread_cond_init(&p->filled, NULL);
	return err ?: -pthread_cond_init(&p->emptied, NULL);
}

void pipe_free(struct pipe *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->filled);
	pthread_cond_destroy(&p->emptied);
}

/* The reader's are those that were passed on and not given back; one is the writer's. */
static uint32_t on_their_way(const struct pipe *p)
{
	return p->wrote - p->taken;
}

/* The lock is held. */
static void wait_for_room(struct pipe *p)
{
	if (on_their_way(p) < PIPE_BLOCKS - 1)
		return;
	while (on_their_way(p) > HALF && !p->closed)
		pthread_cond_wait(&p->emptied, &p->lock);
}

/* The lock is held. */
static void pass_on(struct pipe *p)
{
	p->passed[p->wrote++ % PIPE_BLOCKS] = p->writing;
}

/* One is left for the writer even if it waited in vain. The lock is held. */
static void change_block(struct pipe *p)
{
	pass_on(p);
	if (on_their_way(p) >= HALF)
		pthread_cond_signal(&p->filled);
	wait_for_room(p);
	p->writing = p->free[--p->nfree];
}

bool pipe_turn(struct pipe *p)
{
	bool more;

	pthread_mutex_lock(&p->lock);
	if (!p->closed)
		change_block(p);
	more = !p->closed;
	pthread_mutex_unlock(&p->lock);
	p->writing->n = p->writing->words.n = p->writing->words.nruns = 0;
	return more;
}

void pipe_end(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	pass_on(p);
	p->ended = true;
	pthread_cond_signal(&p->filled);
	pthread_mutex_unlock(&p->lock);
}

/* The lock is held. */
static void give_back(struct pipe *p)
{
	if (p->reading)
		p->free[p->nfree++] = p->passed[p->taken++ % PIPE_BLOCKS];
	p->reading = false;
	if (on_their_way(p) <= HALF)
		pthread_cond_signal(&p->emptied);
}

/* Half of the blocks may be there. False: the time is over. The lock is held. */
static bool wait_for_half(struct pipe *p)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PIPE_LOOKS_NS;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	return !pthread_cond_timedwait(&p->filled, &p->lock, &until);
}

struct pipe_block *pipe_get(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	give_back(p);
	while (!p->ended && (p->waits ? on_their_way(p) < HALF : !on_their_way(p)))
		p->waits = wait_for_half(p);
	p->waits = false;
	p->reading = on_their_way(p);
	pthread_mutex_unlock(&p->lock);
	return p->reading ? p->passed[p->taken % PIPE_BLOCKS] : NULL;
}

void pipe_close(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_cond_signal(&p->emptied);
	pthread_mutex_unlock(&p->lock);
}
