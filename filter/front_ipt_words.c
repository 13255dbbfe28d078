// SPDX-License-Identifier: MIT
/*
 * Words, as they are: gathered where they are decoded, and analysed many at a time. With two threads they are gathered
 * in the pipe between them, with one in room of its own. Taking a part at a time is the same, for a reader that waits
 * for more.
 */
#include "front_ipt_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/pid_list.h"
#include "pt/pt_pipe.h"

/* --- whose cycles they are ------------------------------------------------------------------------------- */

#define BACKEND_SOFTWARE "software"

/* A process without a table (a child that ended at once) is assumed to be recorded like the one before it. */
static bool has_core_cycles(struct front_ipt *f, int32_t pid)
{
	const struct process *p = codes_process(&f->analysis->codes, pid);

	if (p && p->backend)
		f->software = !strcmp(p->backend, BACKEND_SOFTWARE);
	return f->trace.config.cycles && !f->software;
}

void front_ipt_change_process(struct front_ipt *f, int32_t pid)
{
	f->by_core = has_core_cycles(f, pid);
	f->some_by_core |= f->by_core;
	f->pid = pid;
}

/* --- words become samples ---------------------------------------------------------------------------------- */

void front_ipt_show_progress(struct front_ipt *f, uint32_t n)
{
	f->taken += n;
	if (f->progress && progress_due(f->progress, f->taken))
		progress_show(f->progress, f->taken);
}

static int take_run(struct front_ipt *f, const struct words *w, uint32_t from, const struct word_run *run)
{
	struct decoder *d = &f->analysis->decoder;
	struct word word;

	if (run->pid != f->pid)
		front_ipt_change_process(f, run->pid);
	if (run->kind == RUN_WORDS)
		return decode_words(d, run, w, from, f->by_core ? 0 : ticks_in_ns(&f->ticks, d->codes, run->pid));
	if (run->kind == RUN_GAP)
		return decode_gap(d, run->pid, run->tid);
	word = word_of(f, run->pid, run->tid, w->ns[from], w->cycles[from], w->bits[from]);
	return decode_cpu(d, &word);
}

int front_ipt_take_words(struct front_ipt *f, const struct words *w)
{
	uint32_t at = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->nruns && !err; at += w->runs[i++].n)
		err = take_run(f, w, at, &w->runs[i]);
	front_ipt_show_progress(f, w->n);
	return err;
}

/* --- they are gathered --------------------------------------------------------------------------------------- */

static int pass_on(struct front_ipt *f)
{
	bool more;
	int err;

	if (f->pipe) {
		more = pt_pipe_turn(f->pipe);
		f->room = pt_pipe_words(f->pipe);
		return more ? 0 : -ECANCELED;
	}
	err = failed(f, front_ipt_take_words(f, f->room));
	f->room->n = f->room->nruns = 0;
	return err;
}

static bool is_wanted(struct front_ipt *f, int32_t pid)
{
	if (pid != f->asked_of)
		f->asked = pid_list_has(f->processes, pid);
	f->asked_of = pid;
	return f->asked;
}

/* The last n words in the room, or a gap, are of this thread. Words that are not wanted make room for the next ones. */
static int add_run(struct front_ipt *f, int32_t pid, int32_t tid, uint32_t n, enum word_run_kind kind)
{
	struct words *w = f->room;
	struct word_run *last = w->nruns ? &w->runs[w->nruns - 1] : NULL;

	if (f->processes && !is_wanted(f, pid))
		return 0;
	w->n += n;
	if (last && last->tid == tid && last->pid == pid && last->kind == RUN_WORDS && kind == RUN_WORDS)
		last->n += n;
	else
		w->runs[w->nruns++] = (struct word_run){ pid, tid, n, kind };
	return words_full(w) ? pass_on(f) : 0;
}

static int add_words(void *front, int32_t pid, int32_t tid, uint32_t n)
{
	return add_run(front, pid, tid, n, RUN_WORDS);
}

static int add_one(struct front_ipt *f, struct word w, enum word_run_kind kind)
{
	struct words *to = f->room;

	to->bits[to->n] = w.bits;
	to->ns[to->n] = w.time;
	to->cycles[to->n] = w.cycles;
	return add_run(f, w.pid, w.tid, 1, kind);
}

static int add_word(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	return add_one(front, (struct word){ pid, tid, ns, cycles, bits }, RUN_WORDS);
}

static int add_cpu(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	return add_one(front, (struct word){ pid, tid, ns, cycles, bits }, RUN_CPU);
}

static int add_gap(void *front, int32_t pid, int32_t tid)
{
	return add_run(front, pid, tid, 0, RUN_GAP);
}

/* --- from the whole trace ------------------------------------------------------------------------------------ */

static struct pt_feed word_feed(struct front_ipt *f)
{
	return (struct pt_feed){
		add_word, add_gap, .words = add_words, .room = &f->room, .cpu = f->as_perf ? NULL : add_cpu, .to = f
	};
}

/* What is left goes with the pipe's end; without a pipe it is taken here, even before a failure. */
int front_ipt_read_words(struct front_ipt *f)
{
	const struct pt_feed feed = word_feed(f);
	int err = pt_trace_read(&f->trace, &feed), last;

	if (f->pipe || f->err)
		return err;
	last = pass_on(f);
	return err ?: last;
}

int front_ipt_read_alone(struct front_ipt *f)
{
	int err;

	f->room = calloc(1, sizeof(*f->room));
	err = f->room ? front_ipt_read_words(f) : -ENOMEM;
	free(f->room);
	f->room = NULL;
	return f->err ? f->err : err;
}

/* --- for a reader that takes a part at a time --------------------------------------------------------------- */

int front_ipt_begin(struct front_ipt *f, struct analysis *a, struct pt_feed *feed)
{
	f->analysis = a;
	f->room = calloc(1, sizeof(*f->room));
	*feed = word_feed(f);
	return f->room ? 0 : -ENOMEM;
}

int front_ipt_pass(struct front_ipt *f)
{
	return pass_on(f) ? f->err : 0;
}

void front_ipt_end(struct front_ipt *f)
{
	free(f->room);
	f->room = NULL;
}
