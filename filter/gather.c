// SPDX-License-Identifier: MIT
/* With two threads words are gathered in the pipe between them, with one in room of its own. */
#include "gather.h"

#include <string.h>

#include "base/pid_list.h"
#include "others.h"
#include "model/profile_join.h"
#include "pipe.h"

/* --- whose cycles they are ------------------------------------------------------------------------------- */

#define BACKEND_SOFTWARE "software"

/* A process without a table (a child that ended at once) is assumed to be recorded like the one before it. */
static bool has_core_cycles(struct gather *g, int32_t pid)
{
	const struct process *p = g->cores ? codes_process(&g->analysis->codes, pid) : NULL;

	if (p && p->backend)
		g->software = !strcmp(p->backend, BACKEND_SOFTWARE);
	g->unsure |= !p || !p->backend;
	return g->cores && !g->software;
}

void gather_change_process(struct gather *g, int32_t pid)
{
	g->by_core = has_core_cycles(g, pid);
	g->some_by_core |= g->by_core;
	g->pid = pid;
}

/* --- words become samples ---------------------------------------------------------------------------------- */

void gather_show_progress(struct gather *g, uint32_t n)
{
	uint64_t taken = g->all_taken ? __atomic_add_fetch(g->all_taken, n, __ATOMIC_RELAXED) : (g->taken += n);

	if (g->progress && progress_due(g->progress, taken))
		progress_show(g->progress, taken);
}

static struct word word_at(struct gather *g, const struct words *w, uint32_t at, const struct word_run *run)
{
	return gather_word_of(g, run->pid, run->tid, w->ns[at], w->cycles[at], w->bits[at]);
}

static int take_branches(struct gather *g, const struct words *w, uint32_t from, const struct word_run *run)
{
	int err = 0;

	for (uint32_t i = from; i < from + run->n && !err; i++) {
		struct word word = word_at(g, w, i, run);

		err = analysis_branch(g->analysis, &word);
	}
	return err;
}

static int take_cpu(struct gather *g, const struct words *w, uint32_t from, const struct word_run *run)
{
	struct word word = word_at(g, w, from, run);

	return decode_cpu(&g->analysis->decoder, &word);
}

static int take_run(struct gather *g, const struct words *w, uint32_t from, const struct word_run *run)
{
	struct decoder *d = &g->analysis->decoder;

	if (run->pid != g->pid)
		gather_change_process(g, run->pid);
	switch (run->kind) {
	case RUN_WORDS:
		return decode_words(d, run, w, from, g->by_core ? 0 : ticks_in_ns(&g->ticks, d->codes, run->pid));
	case RUN_BRANCHES:
		return take_branches(g, w, from, run);
	case RUN_CPU:
		return take_cpu(g, w, from, run);
	case RUN_GAP:
		break;
	}
	return decode_gap(d, run->pid, run->tid);
}

/* A run, or in parts, where a thread of another worker waits between two of its words. */
static int take_whole(struct gather *g, struct words *w, uint32_t from, const struct word_run *run)
{
	struct word_run part = *run;
	uint32_t end = from + run->n;
	int err;

	do {
		err = g->others ? others_reach(g, w, from, end, &part.n) : 0;
		err = err ?: take_run(g, w, from, &part);
		from += part.n;
	} while (from < end && !err);
	return err;
}

/* Whose they are, and which cycles they have, may depend on what others did before. */
const char *gather_unjoinable(const struct gather *g)
{
	if (map_get(&g->analysis->trace.gils, (uint32_t)-1))
		return "it has words of no known process";
	if (g->cores && g->unsure)
		return "a process has no table";
	return profile_unjoinable(&g->analysis->trace.profile);
}

int gather_take(struct gather *g, struct words *w)
{
	uint32_t at = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->nruns && !err; at += w->runs[i++].n)
		err = take_whole(g, w, at, &w->runs[i]);
	gather_show_progress(g, w->n);
	return !err && g->apart && gather_unjoinable(g) ? -EAGAIN : err;
}

int gather_take_all(struct gather *g)
{
	struct pipe_block *b;
	int err = 0;

	while (!err && (b = pipe_get(g->pipe)))
		err = gather_take(g, &b->words);
	if (err)
		pipe_close(g->pipe);
	return err;
}

/* --- they are gathered --------------------------------------------------------------------------------------- */

int gather_pass_on(struct gather *g)
{
	bool more;
	int err;

	if (g->pipe) {
		more = pipe_turn(g->pipe);
		g->room = pipe_words(g->pipe);
		return more ? 0 : -ECANCELED;
	}
	err = g->others && g->others->looks ? others_look(g->others, &g->analysis->codes, g->room)
					    : gather_take(g, g->room);
	err = gather_failed(g, err);
	g->room->n = g->room->nruns = 0;
	return err;
}

int gather_end(struct gather *g)
{
	return g->others && !g->others->looks ? others_end(g) : 0;
}

bool gather_is_wanted(struct gather *g, int32_t pid)
{
	if (pid != g->asked_of)
		g->asked = pid_list_has(g->processes, pid);
	g->asked_of = pid;
	return g->asked;
}
