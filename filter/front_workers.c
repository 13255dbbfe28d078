// SPDX-License-Identifier: MIT
/* The first worker is the calling thread. Any failure of one is -EAGAIN: alone it is told as ever. */
#include "front_workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "others.h"
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
	bool runs;
	int err;
	struct front_ipt own, *f; /* its reader; the first one's is the caller's. NULL: it could not be made */
	struct analysis *a;
	const struct group *group;
	unsigned number;
	struct others others;
};

/* What all of them share. */
struct group {
	const struct pt_parts *parts;
	struct codes_parts codes;
	struct exchange *exchange; /* NULL: they need not know of each other's threads */
	bool apart;		   /* threads of a process are in several of them */
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

static bool is_without_gil(const void *codes, int32_t pid)
{
	const struct codes *c = codes;
	const struct process *p = pid < 0 ? NULL : map_get(&c->processes, (uint32_t)pid);

	return p && p->free_threaded;
}

/* Where a GIL may be waited for each has to know of the others' waits (exchange.h). */
static bool is_any(const void *codes, int32_t pid)
{
	(void)codes;
	return pid >= 0;
}

/* Not asked for a number, it takes what is worth it. */
static unsigned worth(const struct pt_parts *p, const struct options *o)
{
	if (!o->workers && (p->all < BYTES_LEAST || p->most > p->all / 100 * LARGEST_PERCENT))
		return 1;
	return p->count;
}

static bool some_is_without_gil(const struct codes *c)
{
	bool some = false;

	for (struct map_slot *s = NULL; (s = map_next(&c->processes, s));)
		some |= ((const struct process *)s->value)->free_threaded;
	return some;
}

/* A thread has more than that share of all. */
static bool is_one_thread(const struct pt_trace *t)
{
	uint64_t most = 0, all = 0;

	for (uint32_t i = 0; i < t->merge.nqueues; i++) {
		const struct pt_queue *q = t->merge.queues[i];
		uint64_t bytes = 0;

		for (uint32_t k = 0; q && k < q->nchunks; k++)
			bytes += q->chunks[k].size;
		most = bytes > most ? bytes : most;
		all += bytes;
	}
	return most > all / 100 * LARGEST_PERCENT;
}

/*
 * Words are looked through before, then (others.h), and the file is read twice: on two CPUs one thread for packets and
 * one for analysis take less memory and processor time, though not less time everywhere (docs/benchmarks.md).
 */
static bool may_share_gil(const struct front_ipt *f, const struct options *o)
{
	return o->workers || (cpus() > 2 && !is_one_thread(&f->trace));
}

/* Which processes' threads may be apart; of: NULL: none, and records beside the traces need not be read again. */
static struct pt_apart threads_apart(const struct front_ipt *f, const struct analysis *a, const struct options *o)
{
	if (subscribers_by_process(&a->trace.to))
		return (struct pt_apart){ 0 };
	if (may_share_gil(f, o))
		return (struct pt_apart){ is_any, &a->codes };
	return (struct pt_apart){ some_is_without_gil(&a->codes) ? is_without_gil : NULL, &a->codes };
}

/* Those that share a GIL do not run at the same time: words of theirs are merged by the turn, which costs little. */
static unsigned most_workers(const struct pt_apart *threads, const struct analysis *a, const struct options *o)
{
	bool alternate = threads->of == is_any && !some_is_without_gil(&a->codes);

	return o->workers ?: alternate || cpus() > WORKERS_LEAST ? (unsigned)cpus() : WORKERS_LEAST;
}

/* Processes stay whole unless one of them would keep most workers waiting. */
static int make_best(struct pt_parts *p, const struct front_ipt *f, const struct analysis *a, const struct options *o)
{
	const struct pt_apart none = { 0 };
	struct pt_apart threads;
	int err = pt_parts_make(p, &f->trace, most_workers(&none, a, o), &none);

	if (err || p->most <= p->all / 100 * LARGEST_PERCENT)
		return err;
	threads = threads_apart(f, a, o);
	if (!threads.of)
		return 0;
	pt_parts_free(p);
	return pt_parts_make(p, &f->trace, most_workers(&threads, a, o), &threads);
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

static void keep(struct worker *w, struct front_ipt *f)
{
	f->g.apart = true;
	f->g.others = w->group->exchange ? &w->others : NULL;
	if (w->group->exchange)
		pt_trace_tell_ticks(&f->trace, false);
	f->trace.merge.order_matters = gil_order_matters;
	pt_parts_keep(w->group->parts, &f->trace, w->number);
}

/* Its words are looked through for what others have to know of them, and the others' words are heard. */
static int look(struct worker *w)
{
	struct front_ipt f;
	int err = front_ipt_again(&f, w->f);

	if (err)
		return err;
	keep(w, &f);
	pt_trace_tell_ticks(&f.trace, w->others.quiet >= WORDS_PASSED_TICKS);
	err = front_ipt_decode(&f, w->a);
	front_ipt_close(&f);
	return err ?: others_meet(&w->others);
}

/* Of one that failed nobody waits for words. */
static int look_if_need_be(struct worker *w)
{
	int err;

	if (!w->group->exchange)
		return 0;
	others_init(&w->others, w->group->exchange, &w->group->codes, &w->f->trace.config.clocks.conv, w->number);
	w->a->trace.exchanges = true;
	err = look(w);
	if (err)
		exchange_fail(w->group->exchange);
	return err;
}

static int read_part(struct worker *w)
{
	return look_if_need_be(w) ?: front_ipt_decode(w->f, w->a);
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
	if (!w->f)
		return -EAGAIN;
	err = result(w->f, w->a, w->err);
	add_faults(&f->trace.faults, &w->f->trace.faults);
	front_ipt_close(w->f);
	return err;
}

/* --- all of them --------------------------------------------------------------------------------------------- */

/* Parts are made before any of them is read. Nobody waits for one that is not. */
static int run(struct worker *all, unsigned n)
{
	int err = 0;

	for (unsigned i = 1; i < n; i++) {
		err = err ?: start(&all[i]);
		if (err)
			analysis_heard(all[i].a);
	}
	if (err && all->group->exchange)
		exchange_fail(all->group->exchange);
	err = err ?: read_part(all);
	analysis_heard(all->a);
	return err;
}

/* One more of them. */
static int make_worker(struct worker *w, const struct worker *first, unsigned number, const struct options *o)
{
	int err;

	*w = (struct worker){ .group = first->group, .number = number };
	err = front_ipt_again(&w->own, first->f);
	if (err)
		return err;
	w->f = &w->own;
	w->f->g.all_taken = first->f->g.all_taken;
	keep(w, w->f);
	w->err = analysis_open_part(&w->a, first->a, o, &w->group->codes, number);
	if (!w->err)
		w->a->trace.apart = w->group->apart;
	return w->err;
}

/* The others' traces are taken from the first one once they have them. */
static int read_with(struct worker *all, unsigned n, const struct options *o)
{
	struct front_ipt *f = all->f;
	unsigned made = 1;
	uint64_t taken = 0;
	int err = 0;

	f->g.all_taken = &taken;
	for (; made < n && !err; made++)
		err = make_worker(&all[made], all, made, o);
	keep(all, f);
	all->a->trace.apart = all->group->apart;
	err = err ?: run(all, made);
	for (unsigned i = 1; i < made; i++)
		err = end(&all[i], f) ?: err;
	f->g.all_taken = NULL;
	f->g.others = NULL;
	return err;
}

/* The first one is this thread, whose front end and analysis are those that are there. */
static int read_in_group(struct group *group, unsigned n, struct front_ipt *f, struct analysis *a,
			 const struct options *o)
{
	struct worker *all = calloc(n, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	if (all)
		*all = (struct worker){ .f = f, .a = a, .group = group };
	err = err ?: read_with(all, n, o);
	for (unsigned i = 0; all && i < n; i++)
		others_free(&all[i].others);
	free(all);
	return err ? -EAGAIN : result(f, a, 0);
}

/* A process with a GIL has threads in several of them. */
static bool share_gil(const struct pt_parts *parts, const struct codes *c)
{
	bool share = false;

	for (struct map_slot *s = NULL; (s = map_next(&parts->several, s));)
		share |= pt_parts_several(parts, (int32_t)s->key) && !is_without_gil(c, (int32_t)s->key);
	return share;
}

static int read_apart(struct front_ipt *f, struct analysis *a, const struct options *o, const struct pt_parts *parts,
		      unsigned n)
{
	struct group group = { parts, { part_of, part_has, parts_are_several, parts }, NULL, parts->several.used };
	struct exchange exchange;
	int err;

	if (!share_gil(parts, &a->codes))
		return read_in_group(&group, n, f, a, o);
	group.exchange = &exchange;
	err = exchange_init(&exchange, n) ?: read_in_group(&group, n, f, a, o);
	exchange_free(&exchange);
	return err;
}

/* What cannot be taken apart for a fault in the file is read by one, which tells that. */
int workers_feed(struct front_ipt *f, struct analysis *a, const struct options *o, struct progress *p)
{
	struct pt_parts parts;
	unsigned n;
	int err = make_parts(&parts, f, a, o, &n);

	f->g.progress = p;
	err = err || n < 2 ? front_ipt_feed(f, a, p) : read_apart(f, a, o, &parts, n);
	pt_parts_free(&parts);
	return err;
}
