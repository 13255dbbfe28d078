// SPDX-License-Identifier: MIT
/* A heap of queues by the time at which each of them waits. */
#include "pt_merge.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cold.h"
#include "shared/array.h"
#include "shared/marker.h"

#define QUEUES_MAX (1u << 20)

struct pt_queue *pt_merge_queue(struct pt_merge *m, uint32_t idx)
{
	struct pt_queue *q;

	if (idx >= QUEUES_MAX)
		return NULL;
	if (idx >= m->nqueues) {
		if (!ARRAY_RESIZE(m->queues, idx + 1))
			return NULL;
		while (m->nqueues <= idx)
			m->queues[m->nqueues++] = NULL;
	}
	if (m->queues[idx])
		return m->queues[idx];
	q = calloc(1, sizeof(*q));
	if (q)
		q->cpu = q->tid = -1;
	return m->queues[idx] = q;
}

/* Moves an entry up from a hole in the heap, past all later ones. */
static void rise(struct pt_ordinal *heap, uint32_t hole, struct pt_ordinal o)
{
	while (hole && heap[(hole - 1) / 2].time > o.time) {
		heap[hole] = heap[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	heap[hole] = o;
}

static void push(struct pt_merge *m, uint32_t queue, uint64_t time)
{
	rise(m->heap, m->nheap++, (struct pt_ordinal){ time, queue });
}

/* The hole sinks to the bottom, to the right when both sides are equal; the last entry fills it. */
static struct pt_ordinal pop(struct pt_merge *m)
{
	struct pt_ordinal *heap = m->heap, top = heap[0];
	uint32_t hole = 0, n = m->nheap--, child;

	while ((child = 2 * hole + 1) < n) {
		if (child + 1 < n && heap[child].time >= heap[child + 1].time)
			child++;
		heap[hole] = heap[child];
		hole = child;
	}
	rise(heap, hole, heap[n - 1]);
	return top;
}

/* All cycles up to a step belong to the queue's thread. */
static inline void count_cycles_to(struct pt_queue *q, uint64_t core, uint64_t stamp)
{
	if (q->task && !q->away)
		q->task->cycles += core - q->counted;
	q->counted = core;
	q->counted_at = stamp;
}

/* The step at which the queue waits. */
static inline void count_cycles(struct pt_queue *q)
{
	count_cycles_to(q, q->walk.core, q->walk.stamp);
}

struct span {
	uint64_t from, to;	 /* TSC */
	uint64_t before, behind; /* sums of cycles there */
};

static bool is_past(const struct pt_break *b, uint64_t cycles, uint64_t time)
{
	return b->core < cycles || b->to < time;
}

/* Breaks before what is counted are no longer of use, nor those that the walk has overwritten. */
static void pass_breaks(struct pt_queue *q)
{
	const struct pt_walk *w = &q->walk;

	if (q->passed + PT_BREAKS < w->nbreaks)
		q->passed = w->nbreaks - PT_BREAKS;
	while (q->passed < w->nbreaks && is_past(&w->breaks[q->passed % PT_BREAKS], q->counted, q->counted_at))
		q->passed++;
}

/* The part of a trace, between breaks, that contains `time`: inside it time and cycles advance evenly. */
static struct span span_at(struct pt_queue *q, uint64_t time)
{
	const struct pt_walk *w = &q->walk;
	struct span s = { q->counted_at, w->stamp, q->counted, w->core };

	pass_breaks(q);
	for (uint64_t i = q->passed; i < w->nbreaks; i++) {
		const struct pt_break *b = &w->breaks[i % PT_BREAKS];

		if (is_past(b, s.before, s.from) || b->to > w->stamp)
			continue;
		if (time < b->from)
			return (struct span){ s.from, b->from, s.before, b->core };
		if (time <= b->to)
			return (struct span){ time, time, b->core, b->core };
		s.from = b->to;
		s.before = b->core;
	}
	return s;
}

/* The part's cycles up to `time`. If that is inside it, they are counted as shared, once. */
static uint64_t share(struct pt_merge *m, struct pt_queue *q, const struct span *s, uint64_t time)
{
	uint64_t cycles = s->behind - s->before;

	if (time >= s->to || !cycles)
		return cycles;
	if (time > s->from && s->behind > q->shared_to) {
		m->shared += s->behind - (s->before > q->shared_to ? s->before : q->shared_to);
		q->shared_to = s->behind;
	}
	return (__uint128_t)cycles * (time - s->from) / (s->to - s->from);
}

/* Those up to `time`, which is not after that step. */
static void count_cycles_until(struct pt_merge *m, struct pt_queue *q, uint64_t time)
{
	struct span s;
	uint64_t cycles;

	if (time < q->counted_at)
		return;
	s = span_at(q, time);
	cycles = s.before - q->counted + share(m, q, &s, time);
	if (q->task && !q->away)
		q->task->cycles += cycles;
	q->counted += cycles;
	q->counted_at = time;
}

/* Which thread is it now? */
static void find_task(struct pt_merge *m, struct pt_queue *q)
{
	struct task *task = q->task;

	if (q->follows_cpu) {
		q->tid = tasks_running(&m->tasks, q->cpu);
		task = NULL;
	}
	if (!task && q->tid != -1)
		task = tasks_find(&m->tasks, q->tid);
	q->task = task;
}

static int32_t pid_of(const struct pt_queue *q)
{
	return q->task ? q->task->pid : -1;
}

static void hold(struct pt_queue *q, int step)
{
	q->holds = step == STEP_WORD || step == STEP_BRANCH || step == STEP_ENTER;
	q->held = step;
}

static int tell_cpu(struct pt_merge *m, const struct task *task, uint64_t ns, uint64_t payload)
{
	return m->feed.cpu(m->feed.to, task->pid, task->tid, ns, task->cycles, payload);
}

/* Its first word: it is on a CPU. */
static COLD int follow(struct pt_merge *m, const struct pt_queue *q, uint64_t ns)
{
	q->task->followed = true;
	return tell_cpu(m, q->task, ns, MARKER_CPU_IN | (q->cpu < 0 ? MARKER_CPU_UNKNOWN : (uint16_t)q->cpu));
}

static inline int deliver(struct pt_merge *m, struct pt_queue *q)
{
	const struct pt_feed *f = &m->feed;
	pt_word_fn put = q->held == STEP_WORD ? f->word : q->held == STEP_BRANCH ? f->branch : f->enter;
	uint64_t ns = tsc_ns(&m->clocks->conv, q->walk.stamp);
	uint64_t cycles = q->walk.ticks ? q->walk.stamp : q->task ? q->task->cycles : q->counted;
	int err = m->switches && q->task && !q->task->followed ? follow(m, q, ns) : 0;

	q->holds = false;
	return err ?: put(f->to, pid_of(q), q->tid, ns, cycles, q->walk.word);
}

/* All the cycles are the thread's, if it is there. */
static int deliver_rows(struct pt_merge *m, struct pt_queue *q)
{
	struct rows *rows = q->walk.rows;

	rows->counts = q->task && q->away ? 0 : ~0ull;
	rows->thread = q->task ? q->task->cycles - (q->counted & rows->counts) : 0;
	return m->feed.rows(m->feed.to, pid_of(q), q->tid, rows);
}

/* All at once, if each of them would be told alike. */
static inline void gather(const struct pt_merge *m, struct pt_queue *q)
{
	bool alike = !q->walk.branches && (!q->task || (!q->away && (q->task->followed || !m->switches)));

	q->walk.words = alike ? *m->feed.room : NULL;
	q->walk.thread = q->task ? q->task->cycles - q->counted : 0;
}

/* The queue's next step; steps that nobody needs are skipped. */
static inline int next_step(struct pt_merge *m, struct pt_queue *q)
{
	int step, err = 0;

	do {
		if (m->feed.words)
			gather(m, q);
		step = pt_queue_next(q);
		if (step == STEP_ROWS)
			err = deliver_rows(m, q);
		if (step == STEP_WORDS)
			err = m->feed.words(m->feed.to, pid_of(q), q->tid, q->walk.gathered);
		if (q->walk.passed.stamp) {
			count_cycles_to(q, q->walk.passed.core, q->walk.passed.stamp);
			q->walk.passed.stamp = 0;
		}
	} while ((step == STEP_ROWS || step == STEP_WORDS) && !err);
	return err ? err : step;
}

/* What happened between two words. */
static int report_missing(struct pt_merge *m, const struct pt_queue *q, int step)
{
	if (step == STEP_DAMAGE)
		return m->feed.gap(m->feed.to, pid_of(q), q->tid);
	return m->feed.overflow ? m->feed.overflow(m->feed.to, pid_of(q), q->tid) : 0;
}

/* Runs a queue until it stops at or after *time, and sets *time to where. 0; 1: its trace is at its end; -errno. */
static int run_queue(struct pt_merge *m, struct pt_queue *q, uint64_t *time)
{
	int step, err;

	q->walk.quiet_until = *time;
	for (;;) {
		count_cycles(q);
		err = q->holds ? deliver(m, q) : 0;
		if (err)
			return err;
		step = next_step(m, q);
		if (step < 0 || step == STEP_END)
			return step < 0 ? step : 1;
		if (step == STEP_DAMAGE || step == STEP_OVERFLOW) {
			err = report_missing(m, q, step);
			if (err)
				return err;
			continue;
		}
		hold(q, step);
		if (q->walk.stamp >= *time) {
			*time = q->walk.stamp;
			return 0;
		}
	}
}

static void change_at(struct pt_merge *m, uint64_t time, int32_t cpu, bool away)
{
	for (uint32_t i = 0; i < m->nqueues; i++) {
		struct pt_queue *q = m->queues[i];

		if (!q || !q->follows_cpu || q->cpu != cpu)
			continue;
		find_task(m, q);
		count_cycles_until(m, q, time);
		q->away = away;
	}
}

void pt_merge_leave(struct pt_merge *m, uint64_t time, int32_t cpu)
{
	change_at(m, time, cpu, true);
}

int pt_merge_come(struct pt_merge *m, uint64_t time, int32_t cpu, int32_t pid, int32_t tid)
{
	change_at(m, time, cpu, false);
	return tasks_run(&m->tasks, cpu, pid, tid);
}

int pt_merge_switch(struct pt_merge *m, uint64_t ns, int32_t tid, uint64_t payload)
{
	const struct task *task = m->switches ? tasks_find(&m->tasks, tid) : NULL;

	return task && task->followed ? tell_cpu(m, task, ns, payload) : 0;
}

int pt_merge_lose_switches(struct pt_merge *m, uint64_t ns)
{
	int err = 0;

	for (const struct task *k = m->tasks.newest; k && m->switches && !err; k = k->older)
		err = k->followed ? tell_cpu(m, k, ns, MARKER_CPU_ENDS) : 0;
	m->switches = false;
	return err;
}

/* Room for what not every recording has. 0 or -ENOMEM. */
static int make_room(const struct pt_merge *m, struct pt_walk *w, bool breaks)
{
	bool rows = m->feed.rows && w->branches;

	if (breaks && !w->breaks)
		w->breaks = calloc(PT_BREAKS, sizeof(*w->breaks));
	if (rows && !w->rows)
		w->rows = calloc(1, sizeof(*w->rows));
	return (breaks && !w->breaks) || (rows && !w->rows) ? -ENOMEM : 0;
}

static int start_queue(struct pt_merge *m, struct pt_queue *q)
{
	int step = make_room(m, &q->walk, q->follows_cpu);

	if (step)
		return step;
	q->walk.tips = m->feed.branch;
	do
		step = pt_queue_next(q);
	while (step == STEP_OVERFLOW || step == STEP_DAMAGE);
	return step;
}

/* A queue goes to its next step with a time, and rests there until that time comes. */
static int enqueue(struct pt_merge *m, uint32_t i)
{
	struct pt_queue *q = m->queues[i];
	int step = start_queue(m, q);

	if (step < 0)
		return step;
	hold(q, step);
	count_cycles(q);
	pt_queue_rest(q);
	q->queued = step != STEP_END;
	if (q->queued)
		push(m, i, q->walk.stamp);
	return 0;
}

int pt_merge_more(struct pt_merge *m)
{
	int err = ARRAY_RESIZE(m->heap, m->nqueues + 1) ? 0 : -ENOMEM;

	m->started = true;
	for (uint32_t i = 0; i < m->nqueues && !err; i++) {
		struct pt_queue *q = m->queues[i];

		if (!q)
			continue;
		pt_queue_forget(q);
		if (!q->queued && q->next < q->nchunks)
			err = enqueue(m, i);
	}
	return err;
}

uint64_t pt_merge_next(const struct pt_merge *m)
{
	return m->nheap ? m->heap[0].time : UINT64_MAX;
}

static COLD bool is_tie(const struct pt_merge *m, const struct pt_queue *a, const struct pt_queue *b)
{
	const struct task *x = tasks_find(&m->tasks, a->tid), *y = tasks_find(&m->tasks, b->tid);

	return (x ? x->pid : -1) == (y ? y->pid : -1) && a->holds && b->holds &&
	       m->order_matters(a->walk.word, b->walk.word);
}

/* Up to when the one that was taken off the heap may run. Apart from others it must not pass the next one's time. */
static uint64_t run_until(struct pt_merge *m, const struct pt_ordinal *first, uint64_t until)
{
	if (!m->nheap || m->heap[0].time >= until)
		return until;
	if (!m->order_matters)
		return m->heap[0].time + 1;
	m->ties += m->heap[0].time == first->time && is_tie(m, m->queues[m->heap[0].queue], m->queues[first->queue]);
	return m->heap[0].time;
}

int pt_merge_run(struct pt_merge *m, uint64_t until)
{
	int err = m->started ? 0 : pt_merge_more(m);

	while (err >= 0 && m->nheap && m->heap[0].time < until) {
		struct pt_ordinal first = pop(m);
		uint32_t idx = first.queue;
		uint64_t time = run_until(m, &first, until);

		find_task(m, m->queues[idx]);
		err = pt_queue_wake(m->queues[idx]);
		err = err ?: run_queue(m, m->queues[idx], &time);
		m->queues[idx]->queued = !err;
		if (!err)
			push(m, idx, time);
	}
	return err < 0 ? err : 0;
}

void pt_merge_free(struct pt_merge *m)
{
	for (uint32_t i = 0; i < m->nqueues; i++) {
		if (m->queues[i])
			pt_queue_free(m->queues[i]);
		free(m->queues[i]);
	}
	free(m->queues);
	free(m->heap);
	tasks_free(&m->tasks);
}
