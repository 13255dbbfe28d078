// SPDX-License-Identifier: MIT
/* The first worker is the calling thread. Any failure of one is -EAGAIN: alone it is told as ever. */
#include "front_workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "pt/pt_parts.h"
#include "together.h"

/* Of less, nobody waits for the end. */
#define BYTES_LEAST (4u << 20)

/* With one larger than that share of all, two threads for packets and analysis (front_ipt.c) are as fast. */
#define LARGEST_PERCENT 65

/*
 * On fewer CPUs, too: one worker merges by time the words of processes, or of threads without a GIL, that ran at the
 * same time, which costs more than workers that take turns (docs/benchmarks.md).
 */
#define WORKERS_LEAST 4

struct worker {
	pthread_t thread;
	bool opened, runs;
	int err;
	struct front_ipt f;
	struct analysis *a;
	const struct front_ipt *first; /* reads likewise */
	const char *path;
	const struct pt_parts *parts;
	unsigned number;
};

/* --- whether, and how many ----------------------------------------------------------------------------------- */

static unsigned part_of(const void *parts, int32_t pid)
{
	return pt_parts_of(parts, pid);
}

static bool part_has(const void *parts, int32_t pid, unsigned number)
{
	return pt_parts_has(parts, pid, number);
}

static bool parts_are_several(const void *parts, int32_t pid)
{
	return pt_parts_several(parts, pid);
}

/* Where a GIL may be waited for, whose it was meanwhile needs all threads of the process. */
static bool is_without_gil(const void *codes, int32_t pid)
{
	const struct codes *c = codes;
	const struct process *p = pid < 0 ? NULL : map_get(&c->processes, (uint32_t)pid);

	return p && p->free_threaded;
}

/* Not asked for a number, it takes what is worth it. */
static unsigned worth(const struct pt_parts *p, const struct options *o)
{
	if (!o->workers && (p->all < BYTES_LEAST || p->most > p->all / 100 * LARGEST_PERCENT))
		return 1;
	return p->count;
}

/* Else the records beside the traces need not be read again. */
static bool some_is_without_gil(const struct codes *c)
{
	bool some = false;

	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		some |= ((const struct process *)s->value)->free_threaded;
	return some;
}

/* Processes stay whole unless one of them would keep most workers waiting. */
static int make_best(struct pt_parts *p, const struct front_ipt *f, const struct analysis *a, const struct options *o)
{
	const struct pt_apart none = { 0 }, threads = { is_without_gil, &a->codes };
	unsigned most = o->workers ?: cpus() > WORKERS_LEAST ? (unsigned)cpus() : WORKERS_LEAST;
	int err = pt_parts_make(p, &f->trace, most, &none);

	if (err || p->most <= p->all / 100 * LARGEST_PERCENT)
		return err;
	if (subscribers_by_process(&a->trace.to) || !some_is_without_gil(&a->codes))
		return 0;
	pt_parts_free(p);
	return pt_parts_make(p, &f->trace, most, &threads);
}

static int make_parts(struct pt_parts *p, const struct front_ipt *f, const struct analysis *a, const struct options *o,
		      unsigned *n)
{
	int err;

	*p = (struct pt_parts){ 0 };
	*n = 1;
	if (o->workers == 1 || together_why(a, o, &f->trace.config))
		return 0;
	err = make_best(p, f, a, o);
	*n = err ? 1 : worth(p, o);
	return err;
}

/* --- each of them -------------------------------------------------------------------------------------------- */

static void keep(struct front_ipt *f, const struct pt_parts *parts, unsigned number, uint64_t *taken)
{
	f->g.apart = true;
	f->g.all_taken = taken;
	f->trace.merge.order_matters = gil_order_matters;
	pt_parts_keep(parts, &f->trace, number);
}

/* The file is looked through by each in its own thread: of a large one that takes as long as some of the words. */
static int read_part(struct worker *w)
{
	int err = front_ipt_open(&w->f, w->path);

	if (err)
		return err;
	w->opened = true;
	w->f.as_perf = w->first->as_perf;
	w->f.g.processes = w->first->g.processes;
	keep(&w->f, w->parts, w->number, w->first->g.all_taken);
	return front_ipt_decode(&w->f, w->a);
}

static void *work(void *worker)
{
	struct worker *w = worker;

	w->err = read_part(w);
	analysis_heard(w->a);
	return NULL;
}

static int start(struct worker *w)
{
	int err = -pthread_create(&w->thread, NULL, work, w);

	w->runs = !err;
	return err;
}

/* Where words of equal time may come in another order than all together, the GIL may be another thread's. */
static bool is_ordered(const struct pt_trace *t, const struct trace *of)
{
	bool told = false;

	for (struct map_slot *s = NULL; (s = map_next(&of->gils, s));)
		told |= ((const struct gil *)s->value)->told;
	return !t->merge.ties || !told;
}

static int result(struct front_ipt *f, const struct analysis *a, int err)
{
	return err || gather_unjoinable(&f->g) || !is_ordered(&f->trace, &a->trace) ? -EAGAIN : 0;
}

/* All have read the records beside the traces: what these say is the first one's. */
static void add_faults(struct pt_faults *to, const struct pt_faults *more)
{
	to->overflows += more->overflows;
	to->damages += more->damages;
	to->untimed += more->untimed;
	to->shared += more->shared;
}

static int end(struct worker *w, struct front_ipt *f)
{
	int err;

	if (w->runs)
		pthread_join(w->thread, NULL);
	if (!w->opened)
		return -EAGAIN;
	err = result(&w->f, w->a, w->err);
	add_faults(&f->trace.faults, &w->f.trace.faults);
	front_ipt_close(&w->f);
	return err;
}

/* --- all of them --------------------------------------------------------------------------------------------- */

/* Parts are made before any of them is read. Nobody waits for one that is not. */
static int run(struct worker *others, unsigned n, struct front_ipt *f, struct analysis *a)
{
	int err = 0;

	for (unsigned i = 0; i < n; i++) {
		err = err ?: start(&others[i]);
		if (err)
			analysis_heard(others[i].a);
	}
	err = err ?: front_ipt_decode(f, a);
	analysis_heard(a);
	return err;
}

static int read_apart(struct front_ipt *f, struct analysis *a, const struct options *o, const char *path,
		      const struct pt_parts *parts, unsigned n)
{
	const struct codes_parts of = { part_of, part_has, parts_are_several, parts };
	struct worker *others = calloc(n - 1, sizeof(*others));
	unsigned made = 0;
	uint64_t taken = 0;
	int err = others ? 0 : -ENOMEM;

	keep(f, parts, 0, &taken);
	for (; made < n - 1 && !err; made++) {
		others[made] = (struct worker){ .first = f, .path = path, .parts = parts, .number = made + 1 };
		err = analysis_open_part(&others[made].a, a, o, &of, made + 1);
	}
	err = err ?: run(others, made, f, a);
	for (unsigned i = 0; i < made; i++)
		err = end(&others[i], f) ?: err;
	f->g.all_taken = NULL;
	free(others);
	return err ? -EAGAIN : result(f, a, 0);
}

/* What cannot be taken apart for a fault in the file is read by one, which tells that. */
int workers_feed(struct front_ipt *f, struct analysis *a, const struct options *o, const char *path, struct progress *p)
{
	struct pt_parts parts;
	unsigned n;
	int err = make_parts(&parts, f, a, o, &n);

	f->g.progress = p;
	err = err || n < 2 ? front_ipt_feed(f, a, p) : read_apart(f, a, o, path, &parts, n);
	pt_parts_free(&parts);
	return err;
}
