/* SPDX-License-Identifier: MIT */
/*
 * ordered.h - jobs that other threads do, finished in the order in which they were given.
 *
 * Jobs are in a ring; what they are is the caller's. One thread gives and takes them. Without threads (none are wanted,
 * or the system has no more) a job is done where it is given: the results are the same.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ORDERED_THREADS 4

struct ordered;

/* Does a job. No two run with the same `thread`, from 0 on, at a time. */
typedef void (*ordered_run)(void *context, void *job, unsigned int thread);

/*
 * For jobs[0] to jobs[threads], of `size` bytes each, which stay the caller's: one for each thread, one to be filled.
 * At most ORDERED_THREADS threads. NULL: no memory.
 */
struct ordered *ordered_open(ordered_run run, void *context, void *jobs, size_t size, unsigned int threads);

/* The next job to fill. NULL: all are given, and the oldest must be taken first. */
void *ordered_room(struct ordered *o);

/* Gives it. */
void ordered_give(struct ordered *o);

/* The oldest job, done; it has to be waited for if `wait`. Valid until the next ordered_room(). NULL: there is none. */
void *ordered_take(struct ordered *o, bool wait);

/* Does not wait for jobs that no thread has begun; nobody can take the others. NULL is harmless. */
void ordered_close(struct ordered *o);
