// SPDX-License-Identifier: MIT
/* One thread decodes packets into a pipe, this one takes the words out of it and analyses them. */
#include "front_ipt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pt_pipe.h"

#define BACKEND_SOFTWARE "software"

int front_ipt_open(struct front_ipt *f, const char *path)
{
	*f = (struct front_ipt){ .pid = -1 };
	return pt_trace_open(&f->trace, path);
}

/* --- the thread that decodes -------------------------------------------------------------------------- */

struct decoding {
	struct pt_trace *trace;
	struct pt_pipe *pipe;
	bool branches; /* are wanted, besides words */
	int err;
};

static int put_word(void *pipe, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
		    uint64_t bits)
{
	struct word *w = pt_pipe_put(pipe);

	if (!w)
		return -ECANCELED;
	*w = (struct word){ pid, tid, ns, cycles, bits };
	return 0;
}

/* The same three where branches are wanted, too. */
static int put_kind(void *pipe, enum pipe_kind kind, struct word word)
{
	struct word *w = pt_pipe_put_kind(pipe, kind);

	if (!w)
		return -ECANCELED;
	*w = word;
	return 0;
}

static int put_word_among(void *pipe, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
			  uint64_t bits)
{
	return put_kind(pipe, PIPE_WORD, (struct word){ pid, tid, ns, cycles, bits });
}

static int put_branch(void *pipe, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
		      uint64_t bits)
{
	return put_kind(pipe, PIPE_BRANCH, (struct word){ pid, tid, ns, cycles, bits });
}

static int put_enter(void *pipe, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
		     uint64_t bits)
{
	return put_kind(pipe, PIPE_ENTER, (struct word){ pid, tid, ns, cycles, bits });
}

static int put_overflow(void *pipe, int32_t pid, int32_t tid)
{
	return put_kind(pipe, PIPE_OVERFLOW, (struct word){ pid, tid, 0, 0, 0 });
}

static int put_gap(void *pipe, int32_t pid, int32_t tid)
{
	return pt_pipe_gap(pipe, pid, tid) ? 0 : -ECANCELED;
}

static void *decode(void *decoding)
{
	struct decoding *d = decoding;
	const struct pt_feed words = { put_word, put_gap, .to = d->pipe };
	const struct pt_feed all = { put_word_among, put_gap, put_branch, put_enter, put_overflow,
				     d->pipe };

	d->err = pt_trace_read(d->trace, d->branches ? &all : &words);
	pt_pipe_end(d->pipe);
	return NULL;
}

/* --- the thread that analyses ------------------------------------------------------------------------- */

static bool has_core_cycles(struct front_ipt *f, int32_t pid)
{
	const struct process *p = codes_process(&f->analysis->codes, pid);
	bool software = p && p->backend && !strcmp(p->backend, BACKEND_SOFTWARE);

	return f->trace.config.cycles && !software;
}

static void choose_cycles(struct front_ipt *f, struct word *w)
{
	if (w->pid != f->pid) {
		f->by_core = has_core_cycles(f, w->pid);
		f->some_by_core |= f->by_core;
		f->pid = w->pid;
	}
	if (!f->by_core)
		w->cycles = ticks_at(&f->ticks, &f->analysis->codes, w->pid, w->time);
}

static int take_one(struct front_ipt *f, const struct pt_block *b, uint32_t i)
{
	const struct word *w = &b->words[i];
	enum pipe_kind kind = f->analysis->recovers ? b->kinds[i] : PIPE_WORD;

	switch (kind) {
	case PIPE_BRANCH:
		return analysis_branch(f->analysis, w);
	case PIPE_ENTER:
		return recover_enter(&f->analysis->recover, w);
	case PIPE_OVERFLOW:
		return recover_gap(&f->analysis->recover, w->pid, w->tid);
	default:
		return decode_word(&f->analysis->decoder, w);
	}
}

/* Cycles first: a word that was just written is read slowly. */
static int take_block(struct front_ipt *f, struct pt_block *b)
{
	struct decoder *d = &f->analysis->decoder;
	int err = 0;

	for (uint32_t i = 0; i < b->n; i++)
		choose_cycles(f, &b->words[i]);
	for (uint32_t i = 0; i < b->n && !err; i++)
		err = take_one(f, b, i);
	if (!err && b->gap)
		err = decode_gap(d, b->gap_pid, b->gap_tid);
	if (progress_due(f->progress, d->words))
		progress_show(f->progress, d->words);
	return err;
}

static int take_all(struct front_ipt *f, struct pt_pipe *pipe)
{
	struct pt_block *b;
	int err = 0;

	while (!err && (b = pt_pipe_get(pipe)))
		err = take_block(f, b);
	if (err)
		pt_pipe_close(pipe);
	return err;
}

int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p)
{
	struct decoding d = { &f->trace, calloc(1, sizeof(*d.pipe)), a->recovers, 0 };
	pthread_t thread;
	int err;

	if (!d.pipe)
		return -ENOMEM;
	f->analysis = a;
	f->progress = p;
	pt_pipe_init(d.pipe);
	err = -pthread_create(&thread, NULL, decode, &d);
	if (!err) {
		err = take_all(f, d.pipe);
		pthread_join(thread, NULL);
	}
	free(d.pipe);
	if (f->some_by_core)
		a->trace.profile.clock = f->trace.config.emulated ? "emulated" : "core";
	return err ? err : d.err;
}

void front_ipt_close(struct front_ipt *f)
{
	pt_trace_close(&f->trace);
}
