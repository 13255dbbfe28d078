/* SPDX-License-Identifier: MIT */
/* calltree_join.h - call trees of processes that were analysed in several threads, as one; and paths in one order. */
#pragma once

#include "calltree.h"

/*
 * All paths, callers first: in the order in which they were entered, those of one time by process. So it does not
 * depend on whether calltree_join() brought them together. *n of them in one malloc'ed array; NULL: no memory.
 */
uint32_t *calltree_paths(const struct calltree *t, uint32_t *n);

/*
 * Adds the tree of other processes, whose codes were given back (codes_part.h), and frees it: its node i is *by + i
 * from then on. Nothing is entered after that. 0 or -ENOMEM; -EAGAIN: they have a stack in common.
 */
int calltree_join(struct calltree *to, struct calltree *more, uint32_t *by);
