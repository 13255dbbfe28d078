/* SPDX-License-Identifier: MIT */
/*
 * process.h - what all interpreters of the process share: one lock, and what fork does to it.
 *
 * Interpreters may have a GIL of their own (PEP 684), and threads end without one; so the registry
 * of lanes and the code table have this lock. It is never held while Python code can run, and never
 * taken on the hot path. fork() waits for it, and the child begins with it free.
 */
#ifndef OCULAR_PROCESS_H
#define OCULAR_PROCESS_H

#include <stdbool.h>

/*
 * What a part of us does around fork(2), in the order of its row: before it and, in the parent, after it, without the
 * lock (NULL: nothing), and in the child, with it.
 */
struct process_fork {
	void (*before)(void), (*after)(void), (*child)(void);
};

/* From now on these; the same rows each time. The last has no child(). */
void process_init(const struct process_fork *rows);

void process_lock(void);
void process_unlock(void);

/* An interpreter begins to trace: true if it is the only one. */
bool process_join(void);

/* It ends: true if it was the last. */
bool process_leave(void);

#endif
