// SPDX-License-Identifier: MIT
/* Words of pt_trace -> the decoder, with the cycles that suit the recording. */
#include "front_ipt.h"

#include <string.h>

#define BACKEND_SOFTWARE "software"

int front_ipt_open(struct front_ipt *f, const char *path)
{
	*f = (struct front_ipt){ .pid = -1 };
	return pt_trace_open(&f->trace, path);
}

static bool has_core_cycles(struct front_ipt *f, int32_t pid)
{
	const struct process *p = codes_process(&f->analysis->codes, pid);
	bool software = p && p->backend && !strcmp(p->backend, BACKEND_SOFTWARE);

	return f->trace.config.cycles && !software;
}

static uint64_t cycles_of(struct front_ipt *f, int32_t pid, const struct word *w)
{
	if (pid != f->pid) {
		f->by_core = has_core_cycles(f, pid);
		f->some_by_core |= f->by_core;
		f->pid = pid;
	}
	return f->by_core ? w->cycles : ticks_at(&f->ticks, &f->analysis->codes, pid, w->time);
}

static int take(void *front, int32_t pid, int32_t tid, const struct word *word)
{
	struct front_ipt *f = front;
	struct decoder *d = &f->analysis->decoder;
	struct word w;

	if (!word)
		return decode_gap(d, pid, tid);
	w = *word;
	w.pid = pid;
	w.tid = tid;
	w.cycles = cycles_of(f, pid, word);
	if (progress_due(f->progress, d->words))
		progress_show(f->progress, d->words);
	return decode_word(d, &w);
}

int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p)
{
	int err;

	f->analysis = a;
	f->progress = p;
	err = pt_trace_read(&f->trace, take, f);
	if (f->some_by_core)
		a->trace.profile.clock = "core";
	return err;
}

void front_ipt_close(struct front_ipt *f)
{
	pt_trace_close(&f->trace);
}
