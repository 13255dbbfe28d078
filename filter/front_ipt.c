// SPDX-License-Identifier: MIT
/*
 * Another thread decodes packets into words, through a pipe; this one makes samples of them and analyses those. With a
 * single CPU it does both. Where instructions are recovered from branches the other thread makes the samples, too.
 */
#include "front_ipt.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "front_ipt_parts.h"
#include "pipe.h"

int front_ipt_open(struct front_ipt *f, const char *path)
{
	int err;

	*f = (struct front_ipt){ .g = gather_new() };
	err = pt_trace_open(&f->trace, path);
	f->g.cores = f->trace.config.cycles;
	return err;
}

int front_ipt_again(struct front_ipt *f, const struct front_ipt *of)
{
	int err;

	*f = (struct front_ipt){ .g = gather_new(), .as_perf = of->as_perf };
	err = pt_trace_again(&f->trace, &of->trace);
	f->g.cores = f->trace.config.cycles;
	f->g.processes = of->g.processes;
	return err;
}

int front_ipt_decode(struct front_ipt *f, struct analysis *a)
{
	f->g.analysis = a;
	return a->recovers ? front_ipt_read_recovering(f) : front_ipt_read_alone(f);
}

/* --- the thread that decodes ----------------------------------------------------------------------------- */

static void *decode(void *front)
{
	struct front_ipt *f = front;
	bool recovers = f->g.analysis->recovers;
	int err = recovers ? front_ipt_read_recovering(f) : front_ipt_read_words(f);

	f->g.err = f->g.err ? f->g.err : err;
	if (recovers)
		front_ipt_put_samples(&f->g.analysis->recover);
	pipe_end(f->g.pipe);
	return NULL;
}

/* --- the thread that analyses ------------------------------------------------------------------------- */

static int take_samples(struct front_ipt *f, const struct pipe_block *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n && !err; i++)
		err = trace_feed(&f->g.analysis->trace, &b->samples[i]);
	gather_show_progress(&f->g, b->n);
	return err;
}

static int take_all_samples(struct front_ipt *f)
{
	struct pipe_block *b;
	int err = 0;

	while (!err && (b = pipe_get(f->g.pipe)))
		err = take_samples(f, b);
	if (err)
		pipe_close(f->g.pipe);
	return err;
}

/* The result of decoding matters only if it is not a consequence of analysing. */
static int run_both(struct front_ipt *f)
{
	pthread_t thread;
	int err = -pthread_create(&thread, NULL, decode, f);

	if (err)
		return err;
	err = f->g.analysis->recovers ? take_all_samples(f) : gather_take_all(&f->g);
	pthread_join(thread, NULL);
	return err ? err : f->g.err;
}

static int read_by_two(struct front_ipt *f, struct analysis *a)
{
	int err;

	f->g.pipe = calloc(1, sizeof(*f->g.pipe));
	if (!f->g.pipe)
		return -ENOMEM;
	err = pipe_init(f->g.pipe);
	f->g.room = pipe_words(f->g.pipe);
	if (a->recovers)
		front_ipt_send_to_pipe(f, &a->recover);
	err = err ?: run_both(f);
	if (a->recovers)
		recover_redirect(&a->recover, trace_feed, &a->trace);
	pipe_free(f->g.pipe);
	free(f->g.pipe);
	f->g.pipe = NULL;
	return err;
}

int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p)
{
	int err;

	f->g.analysis = a;
	f->g.progress = p;
	err = cpus() == 1 && !a->recovers ? front_ipt_read_alone(f) : read_by_two(f, a);
	a->trace.profile.shared_cycles = f->g.some_by_core ? f->trace.faults.shared : 0;
	if (f->g.some_by_core)
		a->trace.profile.clock = f->trace.config.emulated ? "emulated" : "core";
	a->trace.profile.cycles_apart = f->g.some_by_core ? f->trace.config.cycles_apart : 0;
	return err;
}

void front_ipt_close(struct front_ipt *f)
{
	pt_trace_close(&f->trace);
}
