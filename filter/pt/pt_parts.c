// SPDX-License-Identifier: MIT
/*
 * Processes and threads are joined where a record names both, unless the process is taken apart, which only has its
 * main thread; then the largest sets go to the part with least.
 */
#include "pt_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"

#define PARTS_MOST 1024

/* --- what goes together -------------------------------------------------------------------------------------- */

static uint64_t id_of_process(int32_t pid)
{
	return map_pair(1, (uint32_t)pid);
}

static uint64_t id_of_thread(int32_t tid)
{
	return map_pair(0, (uint32_t)tid);
}

/* Where all that goes with a node is counted. */
static uint32_t root_of(struct pt_parts *p, uint32_t i)
{
	while (p->nodes[i].of != i)
		i = p->nodes[i].of = p->nodes[p->nodes[i].of].of;
	return i;
}

/* The root of the one of that id, made on first use: *root. 0 or -ENOMEM. */
static int find(struct pt_parts *p, uint64_t id, uint32_t *root)
{
	uintptr_t i = (uintptr_t)map_get(&p->by_id, id);

	if (!i) {
		if (!ARRAY_ROOM(p->nodes, p->n, p->room))
			return -ENOMEM;
		p->nodes[p->n] = (struct pt_part_node){ .id = id, .of = p->n };
		i = ++p->n;
		if (map_put(&p->by_id, id, (void *)i))
			return -ENOMEM;
	}
	*root = root_of(p, (uint32_t)i - 1);
	return 0;
}

/* A thread of the process. */
static int join(struct pt_parts *p, int32_t pid, int32_t tid)
{
	bool apart = p->apart.of && p->apart.of(p->apart.to, pid);
	uint32_t a, b;
	int err = find(p, id_of_process(pid), &a) ?: find(p, id_of_thread(tid), &b);

	if (!err && apart)
		err = map_put(&p->threads, map_pair((uint32_t)pid, (uint32_t)tid), p);
	if (!err && (!apart || tid == pid))
		p->nodes[b].of = a;
	return err;
}

static int take_record(struct pt_parts *p, const struct pt_trace *t, const struct perf_record *rec)
{
	struct perf_side s;
	int err;

	if (!pt_trace_whose(t, rec, &s))
		return 0;
	err = s.pid >= 0 && s.tid >= 0 ? join(p, s.pid, s.tid) : 0;
	return err ?: s.type == PERF_FORK ? join(p, s.ppid, s.ptid) : 0;
}

static int read_records(struct pt_parts *p, const struct pt_trace *t)
{
	struct perf_records *r = malloc(sizeof(*r));
	const struct perf_record *rec;
	int more = r ? 1 : -ENOMEM;

	if (!r)
		return more;
	perf_records_init(r, &t->file, true);
	while ((more = perf_records_next(r, &rec)) > 0)
		if ((more = take_record(p, t, rec)))
			break;
	perf_records_free(r);
	free(r);
	return more;
}

static int add_bytes(struct pt_parts *p, const struct pt_trace *t)
{
	uint32_t root;
	int err = 0;

	for (uint32_t i = 0; i < t->merge.nqueues && !err; i++) {
		const struct pt_queue *q = t->merge.queues[i];

		err = q ? find(p, id_of_thread(q->tid), &root) : 0;
		for (uint32_t k = 0; q && k < q->nchunks && !err; k++)
			p->nodes[root].bytes += q->chunks[k].size;
	}
	return err;
}

/* --- parts of it --------------------------------------------------------------------------------------------- */

/* The largest first. */
static int by_bytes(const void *left, const void *right, void *parts)
{
	const struct pt_part_node *nodes = ((const struct pt_parts *)parts)->nodes;
	const struct pt_part_node *a = &nodes[*(const uint32_t *)left], *b = &nodes[*(const uint32_t *)right];

	return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes) : (a->id > b->id) - (a->id < b->id);
}

static unsigned least_of(const uint64_t *bytes, unsigned n)
{
	unsigned least = 0;

	for (unsigned i = 1; i < n; i++)
		if (bytes[i] < bytes[least])
			least = i;
	return least;
}

static void spread(struct pt_parts *p, const uint32_t *roots, uint32_t n, unsigned most)
{
	uint64_t bytes[PARTS_MOST] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct pt_part_node *root = &p->nodes[roots[i]];

		root->number = least_of(bytes, most);
		bytes[root->number] += root->bytes;
		p->all += root->bytes;
	}
	for (unsigned i = 0; i < most; i++) {
		p->count += bytes[i] > 0;
		p->most = bytes[i] > p->most ? bytes[i] : p->most;
	}
}

static int make(struct pt_parts *p, unsigned most)
{
	uint32_t *roots = calloc(p->n + 1, sizeof(*roots)), n = 0;

	if (!roots)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++)
		if (root_of(p, i) == i && p->nodes[i].bytes)
			roots[n++] = i;
	qsort_r(roots, n, sizeof(*roots), by_bytes, p);
	spread(p, roots, n, most < PARTS_MOST ? most : PARTS_MOST);
	free(roots);
	for (uint32_t i = 0; i < p->n; i++)
		p->nodes[i].number = p->nodes[root_of(p, i)].number;
	return 0;
}

static unsigned number_of(const struct pt_parts *p, uint64_t id)
{
	uintptr_t i = (uintptr_t)map_get(&p->by_id, id);

	return i ? p->nodes[i - 1].number : 0;
}

/* 0 or -ENOMEM. */
static int add_member(struct pt_parts *p, int32_t pid, unsigned number)
{
	uint64_t key = map_pair((uint32_t)pid, number);
	uintptr_t n = (uintptr_t)map_get(&p->several, (uint32_t)pid);

	if (map_get(&p->members, key))
		return 0;
	return map_put(&p->members, key, p) ?: map_put(&p->several, (uint32_t)pid, (void *)(n + 1));
}

static int find_members(struct pt_parts *p)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&p->threads, s));) {
		int32_t pid = (int32_t)(s->key >> 32), tid = (int32_t)s->key;

		err = add_member(p, pid, pt_parts_of(p, pid)) ?: add_member(p, pid, number_of(p, id_of_thread(tid)));
	}
	return err;
}

int pt_parts_make(struct pt_parts *p, const struct pt_trace *t, unsigned most, const struct pt_apart *apart)
{
	*p = (struct pt_parts){ .apart = *apart };
	return read_records(p, t) ?: add_bytes(p, t) ?: make(p, most) ?: find_members(p);
}

unsigned pt_parts_of(const struct pt_parts *p, int32_t pid)
{
	return number_of(p, id_of_process(pid));
}

bool pt_parts_several(const struct pt_parts *p, int32_t pid)
{
	return (uintptr_t)map_get(&p->several, (uint32_t)pid) > 1;
}

bool pt_parts_has(const struct pt_parts *p, int32_t pid, unsigned number)
{
	return pt_parts_of(p, pid) == number || map_get(&p->members, map_pair((uint32_t)pid, number));
}

void pt_parts_keep(const struct pt_parts *p, struct pt_trace *t, unsigned number)
{
	for (uint32_t i = 0; i < t->merge.nqueues; i++) {
		struct pt_queue *q = t->merge.queues[i];

		if (q && number_of(p, id_of_thread(q->tid)) != number)
			q->nchunks = 0;
	}
}

void pt_parts_free(struct pt_parts *p)
{
	map_free(&p->by_id);
	map_free(&p->threads);
	map_free(&p->members);
	map_free(&p->several);
	free(p->nodes);
}
