// SPDX-License-Identifier: MIT
/*
 * A lock on three counters, of jobs that were given, begun and taken, and on which of those in the ring are done. It is
 * taken some times a job, and a job lasts milliseconds.
 */
#include "ordered.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct worker {
	struct ordered *ordered;
	pthread_t thread;
};

struct ordered {
	ordered_run run;
	void *context;
	char *jobs;
	size_t size;
	unsigned int n, nworkers; /* jobs; threads that run */
	pthread_mutex_t lock;	  /* of what follows */
	pthread_cond_t given_one, done_one;
	unsigned int given, begun, taken; /* since ordered_open() */
	bool done[ORDERED_THREADS + 1], closed;
	struct worker workers[ORDERED_THREADS];
};

static void *job(const struct ordered *o, unsigned int number)
{
	return o->jobs + (number % o->n) * o->size;
}

/* The lock is held. False: there will be none. */
static bool wait_for_one(struct ordered *o)
{
	while (o->begun == o->given && !o->closed)
		pthread_cond_wait(&o->given_one, &o->lock);
	return !o->closed;
}

static void *work(void *worker)
{
	struct ordered *o = ((struct worker *)worker)->ordered;
	unsigned int thread = (struct worker *)worker - o->workers;

	pthread_mutex_lock(&o->lock);
	while (wait_for_one(o)) {
		unsigned int number = o->begun++;

		pthread_mutex_unlock(&o->lock);
		o->run(o->context, job(o, number), thread);
		pthread_mutex_lock(&o->lock);
		o->done[number % o->n] = true;
		pthread_cond_signal(&o->done_one);
	}
	pthread_mutex_unlock(&o->lock);
	return NULL;
}

/* Signals are for the caller's threads. */
static void start(struct ordered *o, unsigned int threads)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; o->nworkers < threads; o->nworkers++) {
		struct worker *w = &o->workers[o->nworkers];

		w->ordered = o;
		if (pthread_create(&w->thread, NULL, work, w))
			break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct ordered *ordered_open(ordered_run run, void *context, void *jobs, size_t size, unsigned int threads)
{
	struct ordered *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct ordered){ .run = run, .context = context, .jobs = jobs, .size = size, .n = threads + 1 };
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->given_one, NULL);
	pthread_cond_init(&o->done_one, NULL);
	start(o, threads);
	return o;
}

void *ordered_room(struct ordered *o)
{
	return o->given - o->taken < o->n ? job(o, o->given) : NULL;
}

void ordered_give(struct ordered *o)
{
	unsigned int number = o->given;

	if (!o->nworkers)
		o->run(o->context, job(o, number), 0);
	pthread_mutex_lock(&o->lock);
	o->done[number % o->n] = !o->nworkers;
	o->begun += !o->nworkers;
	o->given++;
	pthread_cond_signal(&o->given_one);
	pthread_mutex_unlock(&o->lock);
}

void *ordered_take(struct ordered *o, bool wait)
{
	unsigned int at = o->taken % o->n;
	bool done;

	if (o->taken == o->given)
		return NULL;
	pthread_mutex_lock(&o->lock);
	while (wait && !o->done[at])
		pthread_cond_wait(&o->done_one, &o->lock);
	done = o->done[at];
	pthread_mutex_unlock(&o->lock);
	return done ? job(o, o->taken++) : NULL;
}

void ordered_close(struct ordered *o)
{
	if (!o)
		return;
	pthread_mutex_lock(&o->lock);
	o->closed = true;
	pthread_cond_broadcast(&o->given_one);
	pthread_mutex_unlock(&o->lock);
	for (unsigned int i = 0; i < o->nworkers; i++)
		pthread_join(o->workers[i].thread, NULL);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->given_one);
	pthread_cond_destroy(&o->done_one);
	free(o);
}
