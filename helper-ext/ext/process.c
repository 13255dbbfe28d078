/* SPDX-License-Identifier: MIT */
/* process.c - see process.h. */
#include <pthread.h>
#include <stdatomic.h>

#include "process.h"

static const struct process_fork *_Atomic forks; /* process_init()'s */
static atomic_uint interpreters;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void process_lock(void)
{
	pthread_mutex_lock(&lock);
}

void process_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool process_join(void)
{
	return atomic_fetch_add(&interpreters, 1) == 0;
}

bool process_leave(void)
{
	return atomic_fetch_sub(&interpreters, 1) == 1;
}

/* Only the interpreter that forked lives on. */
static void forked(void)
{
	if (interpreters)
		interpreters = 1;
	for (const struct process_fork *f = forks; f->child; f++)
		f->child();
	process_unlock();
}

static void before_fork(void)
{
	for (const struct process_fork *f = forks; f->child; f++)
		if (f->before)
			f->before();
	process_lock();
}

static void after_fork(void)
{
	process_unlock();
	for (const struct process_fork *f = forks; f->child; f++)
		if (f->after)
			f->after();
}

static void watch_fork(void)
{
	pthread_atfork(before_fork, after_fork, forked);
}

void process_init(const struct process_fork *rows)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	forks = rows;
	pthread_once(&once, watch_fork);
}
