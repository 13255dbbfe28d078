/* SPDX-License-Identifier: MIT */
/*
 * locks.h - where locks were made that threads may wait for.
 *
 * CPython 3.12 and the first releases of 3.13 make a semaphore of each threading.Lock, which conditions, queues and
 * events are made of; later ones wait on a semaphore of the thread's own. So places are known there, of locks that
 * were made while tracing.
 */
#pragma once

#include <Python.h>
#include <stdint.h>

/* Begins, for the locks of this interpreter, unless another one has; direct: of its codes (codes.h). */
void locks_start(Py_ssize_t direct);
/* Forgets all; from any interpreter. */
void locks_stop(void);
/* This interpreter leaves: likewise, if the locks are its own. */
void locks_leave(void);
/* Around a fork: before it, in the parent after it, and in the child, whose other threads are gone. */
void locks_before_fork(void);
void locks_after_fork(void);
void locks_forked(void);

/*
 * The thread has made it, or it is gone. A place is a line of the innermost function that is traced and not part of
 * what makes locks for others: threading, queue, concurrent.futures; it is not known if there is none near by. Any
 * thread, with the GIL or without; may make objects, but runs no code of the program.
 */
void locks_made(const void *lock);
void locks_gone(const void *lock);

/* For a WAIT word (marker_wait): the id of the code, and how many lines after its first one; 0: not known. */
uint64_t locks_place(const void *lock);
