/* SPDX-License-Identifier: MIT */
/*
 * gather.h - words of a front end, gathered where they are decoded and analysed many at a time: through a pipe, by
 * another thread, or without one, by the same. The same code serves both decoders.
 *
 * Functions that return an int return 0 or a negative errno. Those that gather return -ECANCELED where the analysis
 * failed, or wants no more; g->err says why.
 */
#pragma once

#include <errno.h>

#include "analysis.h"
#include "base/cold.h"
#include "base/words.h"
#include "model/ticks.h"
#include "progress.h"

struct others;
struct pipe;

struct gather {
	struct analysis *analysis;
	struct progress *progress; /* NULL: none is shown */
	struct pipe *pipe;	   /* NULL: one thread does all */
	struct words *room;	   /* where words are put */
	struct others *others;	   /* workers analyse other threads of the process; NULL: none does */
	uint64_t taken;		   /* words that were analysed, */
	uint64_t *all_taken;	   /* also by others: in place of it; NULL: there are none */
	int err;		   /* what the analysis said, or the thread that decodes */
	const char *processes;	   /* all others' words are left out, as soon as they are decoded; NULL: none */
	int32_t asked_of;	   /* the last process, */
	bool asked;		   /* and whether its words are wanted */
	bool cores;		   /* the decoder knows core cycles */
	struct ticks ticks;
	int32_t pid;  /* the process `by_core` is of */
	bool by_core; /* its cycles are core cycles */
	bool some_by_core;
	bool software; /* the last process with a table was recorded by Ocular's recorder */
	bool unsure;   /* some process has no table, or that does not tell */
	bool apart;    /* other processes' words are analysed elsewhere (front_workers.h) */
};

/* What a front end begins with; analysis, pipe or room, and what it wishes are set after it. */
static inline struct gather gather_new(void)
{
	return (struct gather){ .pid = -1, .asked_of = INT32_MIN };
}

/* --- where they are decoded ------------------------------------------------------------------------------- */

/* What is in the room goes on; the next words have room. */
int gather_pass_on(struct gather *g);

/* The process is wanted. */
bool gather_is_wanted(struct gather *g, int32_t pid);

/* The last n words in the room, or a gap, are of this thread. Words that are not wanted make room for the next ones. */
static inline int gather_run(struct gather *g, int32_t pid, int32_t tid, uint32_t n, enum word_run_kind kind)
{
	struct words *w = g->room;
	struct word_run *last = w->nruns ? &w->runs[w->nruns - 1] : NULL;

	if (g->processes && !gather_is_wanted(g, pid))
		return 0;
	w->n += n;
	if (last && last->tid == tid && last->pid == pid && last->kind == kind && kind <= RUN_LAST_OF_MANY)
		last->n += n;
	else
		w->runs[w->nruns++] = (struct word_run){ pid, tid, n, kind };
	return words_full(w) ? gather_pass_on(g) : 0;
}

/* One word, of w's thread. Cycles are stored only where the decoder knows them, or they are ticks (others.h). */
static inline int gather_word(struct gather *g, const struct word *w, enum word_run_kind kind)
{
	struct words *to = g->room;

	to->bits[to->n] = w->bits;
	to->ns[to->n] = w->time;
	if (g->cores || g->others)
		to->cycles[to->n] = w->cycles;
	return gather_run(g, w->pid, w->tid, 1, kind);
}

/* --- where they are analysed ------------------------------------------------------------------------------ */

/* What is analysed cannot be joined to other parts of the recording; NULL: it can be. */
const char *gather_unjoinable(const struct gather *g);

/*
 * All of one room, which may be changed. -EAGAIN: other processes are analysed elsewhere, and this cannot be joined to
 * them.
 */
int gather_take(struct gather *g, struct words *w);

/* After the last room. 0 or a negative errno. */
int gather_end(struct gather *g);

/* All that comes through the pipe; after a failure it is closed. */
int gather_take_all(struct gather *g);

/* n more words or samples are analysed. */
void gather_show_progress(struct gather *g, uint32_t n);

/* Words from now on are of this process: whose cycles do they have? */
COLD void gather_change_process(struct gather *g, int32_t pid);

static inline uint64_t gather_cycles(struct gather *g, int32_t pid, uint64_t ns, uint64_t core)
{
	if (pid != g->pid)
		gather_change_process(g, pid);
	return g->by_core ? core : ticks_at(&g->ticks, &g->analysis->codes, pid, ns);
}

static inline struct word gather_word_of(struct gather *g, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
					 uint64_t bits)
{
	return (struct word){ pid, tid, ns, gather_cycles(g, pid, ns, cycles), bits };
}

/* For a decoder that analyses itself. */
static inline int gather_failed(struct gather *g, int err)
{
	if (!err)
		return 0;
	g->err = err;
	return -ECANCELED;
}
