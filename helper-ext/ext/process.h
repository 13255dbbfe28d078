/* SPDX-License-Identifier: MIT */
/*
 * process.h - what all interpreters of the process share: one lock, and its handling at fork.
 *
 * Interpreters may have a GIL of their own (PEP 684) or none, and threads end without one; so this lock protects the
 * registry of lanes, the code table, and what a session sets while threads still read it for the last one. It is never
 * taken on the hot path. Who holds it does not call Python: without a GIL, threads that wait for it keep the world from
 * being stopped. It may be taken while the world is stopped (world.h). fork() waits for it; it is free in the child.
 */
#pragma once

#include <stdbool.h>

/*
 * What one of our parts does around fork(2), in the order of its row: before it and, in the parent, after it, without
 * the lock (NULL: nothing), and in the child, with it.
 */
struct process_fork {
	void (*before)(void), (*after)(void), (*child)(void);
};

/* The rows to use from now on; the same ones each time. The last has no child(). */
void process_init(const struct process_fork *rows);

void process_lock(void);
void process_unlock(void);

/* An interpreter begins to trace: true if it is the only one. */
bool process_join(void);

/* It ends: true if it was the last. */
bool process_leave(void);
