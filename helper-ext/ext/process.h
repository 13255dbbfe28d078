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

void process_init(void);
void process_lock(void);
void process_unlock(void);

/* An interpreter begins to trace: true if it is the only one. */
bool process_join(void);

/* It ends: true if it was the last. */
bool process_leave(void);

#endif
