/* SPDX-License-Identifier: MIT */
/*
 * recover_gather.h - branches given to recovery as by a front end that has many of a thread at once; and what tells
 * the same.
 */
#pragma once

#include <errno.h>

#include "recover/recover.h"
#include "recover/recover_quick.h"

/* Zeroed: there are none. */
struct gather {
	struct recover_thread *thread;
	struct rows rows;
};

/* Before anything else of the thread. 0, or what recover_rows() returned. */
static inline int gather_end(struct gather *g)
{
	const struct row *from = g->rows.at;
	int err = g->rows.n ? recover_rows(g->thread, &g->rows, &from) : 0;

	g->rows.n = 0;
	return err;
}

/* ROW_BRANCH: recover_branch(), ROW_ENTER: recover_enter(); done by gather_end() at the latest. */
static inline int gather_branch(struct gather *g, struct recover *r, const struct word *w, enum row_kind kind)
{
	static const struct tsc_conv ns = { .mult = 1 };
	struct recover_thread *t = recover_thread_at(r, w->pid, w->tid);
	int err = t != g->thread || g->rows.n == ROWS_MAX ? gather_end(g) : 0;

	if (!t || err)
		return t ? err : -ENOMEM;
	g->thread = t;
	g->rows.conv = &ns;
	g->rows.ratio = 1;
	g->rows.counts = ~0ull;
	g->rows.at[g->rows.n++] = (struct row){ w->bits, w->time, w->cycles, kind };
	return 0;
}

/* Whatever is told, in its order: equal sums, equal samples. Room between fields is not looked at. */
static inline void gather_sum(uint64_t *sum, const struct sample *s)
{
	const uint64_t fields[] = {
		s->op,	 s->opcode, s->before,		s->passed, s->pid,    s->tid,	s->interpreter,
		s->time, s->cycles, (uintptr_t)s->code, s->offset, s->target, s->count,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		*sum = (*sum ^ fields[i]) * 0x9e3779b97f4a7c15ull + 1;
}
