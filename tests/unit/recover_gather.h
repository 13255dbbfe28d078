/* SPDX-License-Identifier: MIT */
/* recover_gather.h - branches given to recovery as by a front end that has many of a thread at once. */
#ifndef RECOVER_GATHER_H
#define RECOVER_GATHER_H

#include <errno.h>

#include "recover_quick.h"

/* Zeroed: none is open. */
struct gather {
	struct quick quick;
};

/* What recover_branch() does, until gather_end(). */
static inline int gather_branch(struct gather *g, struct recover *r, const struct word *w)
{
	struct recover_thread *t = recover_thread_at(r, w->pid, w->tid);
	struct held h = { .valid = true, .time = w->time, .cycles = w->cycles };

	if (!t)
		return -ENOMEM;
	if (!g->quick.thread)
		g->quick = quick_begin(t);
	return quick_hears(&g->quick, w->bits, false, &h) ? quick_take(&g->quick, &h) : 0;
}

/* Before anything else of the thread. */
static inline void gather_end(struct gather *g)
{
	if (g->quick.thread)
		quick_end(&g->quick);
	*g = (struct gather){ 0 };
}

#endif
