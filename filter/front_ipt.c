// SPDX-License-Identifier: MIT
/* One thread decodes packets into samples, through a pipe; this one takes and analyses them. */
#include "front_ipt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pt/pt_pipe.h"
#include "base/cold.h"
#include "recover/recover_quick.h"

#define BACKEND_SOFTWARE "software"

int front_ipt_open(struct front_ipt *f, const char *path)
{
	*f = (struct front_ipt){ .pid = -1 };
	return pt_trace_open(&f->trace, path);
}

/* --- the thread that decodes: packets, words, samples; it owns the code tables until it ends --------------- */

/* A process without a table (a child that ended at once) is assumed to be recorded like the one before it. */
static bool has_core_cycles(struct front_ipt *f, int32_t pid)
{
	const struct process *p = codes_process(&f->analysis->codes, pid);

	if (p && p->backend)
		f->software = !strcmp(p->backend, BACKEND_SOFTWARE);
	return f->trace.config.cycles && !f->software;
}

static COLD void change_process(struct front_ipt *f, int32_t pid)
{
	f->by_core = has_core_cycles(f, pid);
	f->some_by_core |= f->by_core;
	f->pid = pid;
}

static inline uint64_t cycles_of(struct front_ipt *f, int32_t pid, uint64_t ns, uint64_t core)
{
	if (pid != f->pid)
		change_process(f, pid);
	return f->by_core ? core : ticks_at(&f->ticks, &f->analysis->codes, pid, ns);
}

static inline struct word word_of(struct front_ipt *f, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles,
				  uint64_t bits)
{
	return (struct word){ pid, tid, ns, cycles_of(f, pid, ns, cycles), bits };
}

static inline int failed(struct front_ipt *f, int err)
{
	if (!err)
		return 0;
	f->err = err;
	return -ECANCELED;
}

static int put_word(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = word_of(f, pid, tid, ns, cycles, bits);

	return failed(f, decode_word(&f->analysis->decoder, &w));
}

static int put_branch(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = word_of(f, pid, tid, ns, cycles, bits);

	return failed(f, analysis_branch(f->analysis, &w));
}

static int put_enter(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = word_of(f, pid, tid, ns, cycles, bits);

	return failed(f, recover_enter(&f->analysis->recover, &w));
}

static int put_cpu(void *front, int32_t pid, int32_t tid, uint64_t ns, uint64_t cycles, uint64_t bits)
{
	struct front_ipt *f = front;
	struct word w = word_of(f, pid, tid, ns, cycles, bits);

	return failed(f, decode_cpu(&f->analysis->decoder, &w));
}

static int put_row(struct front_ipt *f, int32_t pid, int32_t tid, const struct rows *rows, const struct row *row)
{
	static const pt_word_fn put[] = { [ROW_WORD] = put_word, [ROW_BRANCH] = put_branch, [ROW_ENTER] = put_enter };

	return put[row->kind](f, pid, tid, rows_ns(rows, row), rows_cycles(rows, row), row->ip);
}

/* Branches of a thread that is not recovered. */
static const struct row *skip_to_word(const struct row *row, const struct row *end)
{
	while (row < end && row->kind != ROW_WORD)
		row++;
	return row;
}

/* One by one, if a word waits for the next one. */
static int put_rows(void *front, int32_t pid, int32_t tid, const struct rows *rows)
{
	struct front_ipt *f = front;
	const struct row *row = rows->at, *end = row + rows->n;
	struct recover_thread *t;
	int err = 0;

	if (pid != f->pid)
		change_process(f, pid);
	f->analysis->recover.ticks = f->by_core ? NULL : &f->ticks;
	while (row < end && !err) {
		if (row->kind == ROW_WORD || f->analysis->decoder.holding) {
			err = put_row(f, pid, tid, rows, row++);
			continue;
		}
		t = recover_thread_at(&f->analysis->recover, pid, tid);
		if (!t)
			return failed(f, -ENOMEM);
		if (t->dispatch)
			err = failed(f, recover_rows(t, rows, &row));
		else
			row = skip_to_word(row, end);
	}
	return err;
}

static int put_overflow(void *front, int32_t pid, int32_t tid)
{
	struct front_ipt *f = front;
	int err = decode_settle(&f->analysis->decoder, pid, tid);

	return failed(f, err ? err : recover_gap(&f->analysis->recover, pid, tid));
}

static int put_gap(void *front, int32_t pid, int32_t tid)
{
	struct front_ipt *f = front;

	return failed(f, decode_gap(&f->analysis->decoder, pid, tid));
}

/* --- samples, made in the pipe itself: copying them would cost twice as much as making them --------------- */

static int put_sample(void *front, const struct sample *s)
{
	struct front_ipt *f = front;
	bool more = pt_pipe_put(f->pipe);

	(void)s;
	f->analysis->decoder.room = pt_pipe_room(f->pipe);
	return more ? 0 : -ECANCELED;
}

/* Recovered ones. */
static int put_samples(struct recover *r)
{
	struct front_ipt *f = r->to;
	bool more = pt_pipe_put_up_to(f->pipe, r->room);

	recover_give_room(r, pt_pipe_room(f->pipe), pt_pipe_end_of_room(f->pipe), put_samples);
	return more ? 0 : -ECANCELED;
}

/* One that was made elsewhere. */
static int put_copy(void *front, const struct sample *s)
{
	struct front_ipt *f = front;

	*f->analysis->recover.room = *s;
	return recover_made(&f->analysis->recover);
}

static void send_to_pipe(struct front_ipt *f, struct analysis *a)
{
	struct sample *room = pt_pipe_room(f->pipe);

	if (!a->recovers) {
		decode_redirect(&a->decoder, put_sample, f, room);
		return;
	}
	recover_redirect(&a->recover, put_copy, f);
	recover_give_room(&a->recover, room, pt_pipe_end_of_room(f->pipe), put_samples);
}

static void send_to_trace(struct analysis *a)
{
	if (a->recovers)
		recover_redirect(&a->recover, trace_feed, &a->trace);
	else
		decode_redirect(&a->decoder, trace_feed, &a->trace, NULL);
}

int front_ipt_decode(struct front_ipt *f, struct analysis *a)
{
	const struct pt_feed words = { put_word, put_gap, .cpu = f->as_perf ? NULL : put_cpu, .to = f };
	const struct pt_feed all = { put_word, put_gap, put_branch, put_enter, put_overflow, put_rows, .to = f };

	if (f->analysis != a) /* another thread may be reading it */
		f->analysis = a;
	return pt_trace_read(&f->trace, a->recovers ? &all : &words);
}

static void *decode(void *front)
{
	struct front_ipt *f = front;
	int err = front_ipt_decode(f, f->analysis);

	f->err = f->err ? f->err : err;
	if (f->analysis->recovers)
		put_samples(&f->analysis->recover);
	pt_pipe_end(f->pipe);
	return NULL;
}

/* --- the thread that analyses ------------------------------------------------------------------------- */

static int take_all(struct front_ipt *f)
{
	struct trace *trace = &f->analysis->trace;
	struct pt_block *b;
	uint64_t taken = 0;
	int err = 0;

	while (!err && (b = pt_pipe_get(f->pipe))) {
		for (uint32_t i = 0; i < b->n && !err; i++)
			err = trace_feed(trace, &b->samples[i]);
		taken += b->n;
		if (progress_due(f->progress, taken))
			progress_show(f->progress, taken);
	}
	if (err)
		pt_pipe_close(f->pipe);
	return err;
}

/* The result of decoding matters only if it is not a consequence of analysing. */
static int run_both(struct front_ipt *f)
{
	pthread_t thread;
	int err = -pthread_create(&thread, NULL, decode, f);

	if (err)
		return err;
	err = take_all(f);
	pthread_join(thread, NULL);
	return err ? err : f->err;
}

int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p)
{
	int err;

	f->analysis = a;
	f->progress = p;
	f->pipe = calloc(1, sizeof(*f->pipe));
	if (!f->pipe)
		return -ENOMEM;
	pt_pipe_init(f->pipe);
	send_to_pipe(f, a);
	err = run_both(f);
	send_to_trace(a);
	free(f->pipe);
	a->trace.profile.shared_cycles = f->some_by_core ? f->trace.faults.shared : 0;
	if (f->some_by_core)
		a->trace.profile.clock = f->trace.config.emulated ? "emulated" : "core";
	a->trace.profile.cycles_apart = f->some_by_core ? f->trace.config.cycles_apart : 0;
	return err;
}

void front_ipt_close(struct front_ipt *f)
{
	pt_trace_close(&f->trace);
}
