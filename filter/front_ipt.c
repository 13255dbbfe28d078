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
#include "pt/pt_pipe.h"

int front_ipt_open(struct front_ipt *f, const char *path)
{
	*f = (struct front_ipt){ .pid = -1, .asked_of = INT32_MIN };
	return pt_trace_open(&f->trace, path);
}

int front_ipt_decode(struct front_ipt *f, struct analysis *a)
{
	f->analysis = a;
	return a->recovers ? front_ipt_read_recovering(f) : front_ipt_read_alone(f);
}

/* --- the thread that decodes ----------------------------------------------------------------------------- */

static void *decode(void *front)
{
	struct front_ipt *f = front;
	bool recovers = f->analysis->recovers;
	int err = recovers ? front_ipt_read_recovering(f) : front_ipt_read_words(f);

	f->err = f->err ? f->err : err;
	if (recovers)
		front_ipt_put_samples(&f->analysis->recover);
	pt_pipe_end(f->pipe);
	return NULL;
}

/* --- the thread that analyses ------------------------------------------------------------------------- */

static int take_samples(struct front_ipt *f, const struct pt_block *b)
{
	int err = 0;

	for (uint32_t i = 0; i < b->n && !err; i++)
		err = trace_feed(&f->analysis->trace, &b->samples[i]);
	front_ipt_show_progress(f, b->n);
	return err;
}

static int take_all(struct front_ipt *f)
{
	bool recovers = f->analysis->recovers;
	struct pt_block *b;
	int err = 0;

	while (!err && (b = pt_pipe_get(f->pipe)))
		err = recovers ? take_samples(f, b) : front_ipt_take_words(f, &b->words);
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

static int read_by_two(struct front_ipt *f, struct analysis *a)
{
	int err;

	f->pipe = calloc(1, sizeof(*f->pipe));
	if (!f->pipe)
		return -ENOMEM;
	err = pt_pipe_init(f->pipe);
	f->room = pt_pipe_words(f->pipe);
	if (a->recovers)
		front_ipt_send_to_pipe(f, &a->recover);
	err = err ?: run_both(f);
	if (a->recovers)
		recover_redirect(&a->recover, trace_feed, &a->trace);
	pt_pipe_free(f->pipe);
	free(f->pipe);
	f->pipe = NULL;
	return err;
}

int front_ipt_feed(struct front_ipt *f, struct analysis *a, struct progress *p)
{
	int err;

	f->analysis = a;
	f->progress = p;
	err = cpus() == 1 && !a->recovers ? front_ipt_read_alone(f) : read_by_two(f, a);
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
