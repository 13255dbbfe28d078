// SPDX-License-Identifier: MIT
/* One table says what each kind of record does. */
#include "pt_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "only_perf.h"
#include "shared/marker.h"

/* perfcheck_file() has seen what is read: if it is not there, it was cut off since. */
static const char *reason(int err)
{
	return err == -ENODATA ? "the recording was cut while it was read" : strerror(-err);
}

static int fail(struct pt_trace *t, int err)
{
	if (!t->error[0] && err != -ECANCELED) /* the feed's own, with its text */
		snprintf(t->error, sizeof(t->error), "%s", reason(err));
	return err;
}

/* All of a pass's records, to `take`: a negative errno ends it. `at`: where the record ends. */
static int each_record(struct pt_trace *t, bool unpack,
		       int (*take)(struct pt_trace *t, const struct perf_record *rec, uint64_t at))
{
	struct perf_records *r = malloc(sizeof(*r));
	const struct perf_record *rec;
	int err;

	if (!r)
		return -ENOMEM;
	perf_records_init(r, &t->file, unpack);
	while ((err = perf_records_next(r, &rec)) > 0) {
		err = take(t, rec, r->at);
		if (err)
			break;
	}
	perf_records_free(r);
	free(r);
	return err;
}

/* --- the first pass: where the traces are ------------------------------------------------------------ */

static struct pt_queue *queue_of(struct pt_trace *t, uint32_t idx, int32_t cpu, int32_t tid)
{
	struct pt_queue *q = pt_merge_queue(&t->merge, idx);

	if (!q || q->nchunks)
		return q;
	q->fd = t->file.fd;
	q->cpu = cpu;
	q->tid = tid;
	q->follows_cpu = tid == -1 || t->config.switches;
	q->may_overlap = t->config.may_overlap;
	pt_walk_init(&q->walk, &t->config.clocks, t->config.branches);
	return q;
}

static int add_auxtrace(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	const struct perf_auxtrace *a = (const void *)rec;
	struct pt_chunk chunk = { at, a->size, a->reference };
	struct pt_queue *q = queue_of(t, a->idx, a->cpu, a->tid);

	return q ? pt_queue_add(q, &chunk) : -ENOMEM;
}

/* A trace in a sample: the sample's id gives its queue. `at` is where the record ends. */
static int add_sample(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	struct perf_sample s;
	const struct perf_id_entry *e;
	struct pt_queue *q;

	if (!t->config.sampled || !perf_sample_read(&t->file, rec, &s) || !s.aux_size)
		return 0;
	e = map_get(&t->by_id, s.id);
	if (!e)
		return 0;
	q = queue_of(t, e->idx, e->cpu, e->tid);
	if (!q)
		return -ENOMEM;
	return pt_queue_add(q, &(struct pt_chunk){ at - rec->size + s.aux_at, s.aux_size,
						   s.time ? tsc_of_ns(&t->config.clocks.conv, s.time) : 0 });
}

static int add_ids(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	const struct perf_id_index *index = (const void *)rec;
	uint64_t most = (rec->size - sizeof(*index)) / sizeof(index->entries[0]);

	(void)at;
	for (uint64_t i = 0; i < index->n && i < most; i++) {
		uint64_t id = index->entries[i].id;
		struct perf_id_entry *e = map_get(&t->by_id, id);

		e = e ? e : map_add(&t->by_id, id, sizeof(*e));
		if (!e)
			return -ENOMEM;
		*e = index->entries[i];
	}
	return 0;
}

static int add_info(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	struct perf_auxtrace_info info = { 0 };

	(void)at;
	memcpy(&info, rec, rec->size < sizeof(info) ? rec->size : sizeof(info));
	if (t->merge.clocks)
		return 0;
	t->merge.clocks = &t->config.clocks;
	return pt_config_read(&t->config, &t->file, &info, t->error);
}

/* What they hold is unpacked in the second pass; samples with traces would be needed in this one. */
static int add_packed(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	const char *why;

	(void)rec;
	(void)at;
	t->config.packed = true;
	why = t->merge.clocks ? only_perf(&t->config, NULL) : NULL;
	if (!why)
		return 0;
	snprintf(t->error, sizeof(t->error), "%s", why);
	return -EOPNOTSUPP;
}

/* Minimum sizes; shorter records are ignored. AUXTRACE_INFO comes before any trace. */
static const struct finder {
	uint32_t type, size;
	int (*add)(struct pt_trace *t, const struct perf_record *rec, uint64_t at);
} finders[] = {
	{ PERF_AUXTRACE_INFO, sizeof(struct perf_record) + 8, add_info },
	{ PERF_ID_INDEX, sizeof(struct perf_id_index), add_ids },
	{ PERF_AUXTRACE, sizeof(struct perf_auxtrace), add_auxtrace },
	{ PERF_SAMPLE, sizeof(struct perf_record), add_sample },
	{ PERF_COMPRESSED, sizeof(struct perf_record), add_packed },
	{ PERF_COMPRESSED2, sizeof(struct perf_record), add_packed },
};

int pt_trace_find(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	for (size_t i = 0; i < sizeof(finders) / sizeof(finders[0]); i++)
		if (finders[i].type == rec->type && rec->size >= finders[i].size)
			return finders[i].add(t, rec, at);
	return 0;
}

/* What is found needs not be met again: the other passes are for the records between the traces. */
static int find_all(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	int err = pt_trace_find(t, rec, at);

	if (err || rec->type != PERF_AUXTRACE)
		return err;
	return perf_file_know(&t->file, at - rec->size, at + ((const struct perf_auxtrace *)rec)->size);
}

int pt_trace_open(struct pt_trace *t, const char *path)
{
	int err;

	*t = (struct pt_trace){ 0 };
	err = perf_file_open(&t->file, path, t->error);
	if (err)
		return fail(t, err);
	err = tasks_init(&t->merge.tasks);
	err = err ?: each_record(t, false, find_all);
	if (err) {
		fail(t, err);
		pt_trace_close(t);
	}
	return err;
}

/* Its chunks, none of which is read yet. */
static int copy_queue(struct pt_trace *t, uint32_t idx, const struct pt_queue *of)
{
	struct pt_queue *q = queue_of(t, idx, of->cpu, of->tid);
	int err = q ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < of->nchunks && !err; i++)
		err = pt_queue_add(q, &of->chunks[i]);
	return err;
}

int pt_trace_again(struct pt_trace *t, const struct pt_trace *of)
{
	int err;

	*t = (struct pt_trace){ .config = of->config };
	err = perf_file_again(&t->file, &of->file);
	if (err)
		return fail(t, err);
	t->merge.clocks = of->merge.clocks ? &t->config.clocks : NULL;
	err = tasks_init(&t->merge.tasks);
	for (uint32_t i = 0; i < of->merge.nqueues && !err; i++)
		if (of->merge.queues[i] && of->merge.queues[i]->nchunks)
			err = copy_queue(t, i, of->merge.queues[i]);
	if (err) {
		fail(t, err);
		pt_trace_close(t);
	}
	return err;
}

/* --- the pass between: whether there are all switches ------------------------------------------------------ */

/* Of each CPU, or each thread, there is a buffer. */
static int look_at(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	struct perf_sample id;
	int32_t buffer;

	(void)at;
	if (rec->type == PERF_FINISHED_ROUND)
		pt_losses_round(&t->losses);
	if (rec->type >= PERF_KERNEL_TYPES || rec->type == PERF_SAMPLE)
		return 0;
	if (!perf_sample_read(&t->file, rec, &id))
		id.time = id.cpu = id.tid = -1;
	buffer = t->config.per_cpu ? id.cpu : id.tid;
	if (rec->type == PERF_LOST)
		pt_losses_add(&t->losses, buffer);
	return pt_losses_record(&t->losses, buffer, id.time == UINT64_MAX ? 0 : id.time);
}

static int look_for_losses(struct pt_trace *t)
{
	int err = each_record(t, true, look_at);

	if (t->file.check.cut)
		pt_losses_cut(&t->losses);
	return err;
}

/* --- the last pass: the records beside them ---------------------------------------------------------- */

static uint64_t tsc_of(const struct pt_trace *t, const struct perf_side *s)
{
	return s->time ? tsc_of_ns(&t->config.clocks.conv, s->time) : 0;
}

/* A thread comes to a CPU; a record without a CPU is of no use. */
static int come(struct pt_trace *t, const struct perf_side *s, int32_t pid, int32_t tid)
{
	int err = pt_merge_come(&t->merge, tsc_of(t, s), s->cpu, pid, tid);

	return err == -EINVAL ? 0 : err;
}

static int apply_switch(struct pt_trace *t, const struct perf_side *s)
{
	bool wide = t->config.switches == SWITCHES_WIDE && s->type == PERF_SWITCH_CPU_WIDE;
	bool out = s->misc & PERF_MISC_SWITCH_OUT, preempted = out && s->misc & PERF_MISC_SWITCH_OUT_PREEMPT;
	int err = 0;

	if (out)
		pt_merge_leave(&t->merge, tsc_of(t, s), s->cpu);
	if (!out || wide)
		err = come(t, s, out ? s->ppid : s->pid, out ? s->ptid : s->tid);
	if (err || !s->time)
		return err;
	return pt_merge_switch(&t->merge, s->time, s->tid, marker_payload(marker_cpu(!out, preempted, false, s->cpu)));
}

/* The buffer was full: what the thread did after this, up to its next trace, is missing. */
static int cut(struct pt_trace *t, const struct perf_side *s)
{
	const struct pt_feed *feed = &t->merge.feed;
	int err = s->time && feed->overflow ? pt_merge_run(&t->merge, tsc_of(t, s) + 1) : 0;

	return !err && s->time && feed->overflow ? feed->overflow(feed->to, s->pid, s->tid) : err;
}

/* The words before ns; but where switches are missing, that comes first: a record of that time was applied. */
int pt_trace_until(struct pt_trace *t, uint64_t ns)
{
	bool lost = t->losses.lost && t->merge.switches && ns > t->losses.until;
	int err = lost ? pt_merge_lose_switches(&t->merge, t->losses.until) : 0;

	return err ?: pt_merge_run(&t->merge, ns == UINT64_MAX ? ns : tsc_of_ns(&t->config.clocks.conv, ns));
}

static int apply(void *to, const struct perf_side *s)
{
	struct pt_trace *t = to;
	struct tasks *tasks = &t->merge.tasks;
	int err = s->time ? pt_trace_until(t, s->time) : 0;

	if (err)
		return err;
	switch (s->type) {
	case PERF_COMM:
	case PERF_MMAP:
	case PERF_MMAP2:
		return tasks_name(tasks, s->pid, s->tid) ? 0 : -ENOMEM;
	case PERF_FORK:
		return tasks_fork(tasks, s->pid, s->tid, s->ppid, s->ptid);
	case PERF_ITRACE_START:
		return t->config.per_cpu ? come(t, s, s->pid, s->tid) : 0;
	case PERF_SWITCH:
	case PERF_SWITCH_CPU_WIDE:
		return apply_switch(t, s);
	case PERF_AUX:
		return s->truncated ? cut(t, s) : 0;
	default:
		return 0;
	}
}

/* The body of a record names threads itself: which fields, and its minimum size. */
static void read_body(const struct perf_record *rec, struct perf_side *s)
{
	const struct perf_task *task = (const void *)rec;
	const struct perf_itrace_start *named = (const void *)rec;

	switch (rec->type) {
	case PERF_COMM:
	case PERF_MMAP:
	case PERF_MMAP2:
	case PERF_ITRACE_START:
		s->pid = named->pid;
		s->tid = named->tid;
		break;
	case PERF_FORK:
		s->pid = task->pid;
		s->tid = task->tid;
		s->ppid = task->ppid;
		s->ptid = task->ptid;
		break;
	case PERF_SWITCH_CPU_WIDE:
		s->ppid = named->pid;
		s->ptid = named->tid;
		break;
	}
}

static size_t least_size(uint32_t type)
{
	switch (type) {
	case PERF_FORK:
		return offsetof(struct perf_task, time);
	case PERF_AUX:
		return sizeof(struct perf_aux);
	case PERF_LOST:
		return sizeof(struct perf_lost);
	default:
		return offsetof(struct perf_itrace_start, id);
	}
}

static bool is_whole(const struct perf_record *rec)
{
	return rec->type == PERF_SWITCH || rec->size >= least_size(rec->type);
}

/* Whose it is, and when. False: it does not say. */
static bool read_whose(const struct pt_trace *t, const struct perf_record *rec, struct perf_side *s)
{
	struct perf_sample id;

	if (!perf_sample_read(&t->file, rec, &id))
		return false;
	s->time = id.time == UINT64_MAX ? 0 : id.time;
	s->cpu = id.cpu;
	s->pid = id.pid;
	s->tid = id.tid;
	read_body(rec, s);
	return true;
}

bool pt_trace_whose(const struct pt_trace *t, const struct perf_record *rec, struct perf_side *s)
{
	*s = (struct perf_side){ .type = rec->type, .misc = rec->misc };
	return rec->type < PERF_KERNEL_TYPES && rec->type != PERF_SAMPLE && is_whole(rec) && read_whose(t, rec, s);
}

static int add_side(struct pt_trace *t, const struct perf_record *rec)
{
	struct perf_side s = { .type = rec->type, .misc = rec->misc };

	if (!is_whole(rec))
		return 0;
	if (rec->type == PERF_AUX)
		s.truncated = ((const struct perf_aux *)rec)->flags & PERF_AUX_TRUNCATED;
	t->faults.truncated += s.truncated;
	if (rec->type == PERF_LOST)
		t->faults.lost += ((const struct perf_lost *)rec)->lost;
	return read_whose(t, rec, &s) ? perf_order_add(&t->order, &s) : 0;
}

int pt_trace_side(struct pt_trace *t, const struct perf_record *rec, uint64_t at)
{
	(void)at;
	if (rec->type == PERF_FINISHED_ROUND)
		return perf_order_round(&t->order);
	return rec->type < PERF_KERNEL_TYPES ? add_side(t, rec) : 0;
}

static int read_side(struct pt_trace *t)
{
	int err = t->merge.switches ? look_for_losses(t) : 0;

	err = err ?: each_record(t, true, pt_trace_side);
	if (err == -EBADMSG)
		snprintf(t->error, sizeof(t->error), "its compressed records are damaged");
	return err ? err : perf_order_end(&t->order);
}

void pt_trace_tell_ticks(struct pt_trace *t, bool skims)
{
	for (uint32_t i = 0; i < t->merge.nqueues; i++) {
		struct pt_queue *q = t->merge.queues[i];

		if (!q)
			continue;
		q->walk.ticks = true;
		q->walk.skims = skims;
	}
}

uint64_t pt_trace_damages(const struct pt_trace *t)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < t->merge.nqueues; i++)
		n += t->merge.queues[i] ? t->merge.queues[i]->damages : 0;
	return n;
}

static void sum_faults(struct pt_trace *t)
{
	for (uint32_t i = 0; i < t->merge.nqueues; i++) {
		const struct pt_queue *q = t->merge.queues[i];

		if (!q)
			continue;
		t->faults.overflows += q->overflows;
		t->faults.untimed += q->walk.untimed;
	}
	t->faults.damages = pt_trace_damages(t);
	t->faults.shared = t->merge.shared;
	t->faults.switches = t->losses.lost;
}

void pt_trace_begin(struct pt_trace *t, const struct pt_feed *feed)
{
	t->merge.feed = *feed;
	t->merge.switches = feed->cpu && t->config.switched;
	t->order.deliver = apply;
	t->order.to = t;
}

int pt_trace_end(struct pt_trace *t, int err)
{
	sum_faults(t);
	return err ? fail(t, err) : 0;
}

int pt_trace_read(struct pt_trace *t, const struct pt_feed *feed)
{
	int err;

	pt_trace_begin(t, feed);
	err = read_side(t);
	return pt_trace_end(t, err ?: pt_trace_until(t, UINT64_MAX));
}

void pt_trace_close(struct pt_trace *t)
{
	map_free_all(&t->by_id);
	perf_order_free(&t->order);
	pt_losses_free(&t->losses);
	pt_merge_free(&t->merge);
	perf_file_close(&t->file);
}
