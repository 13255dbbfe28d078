// SPDX-License-Identifier: MIT
#include "requests.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t key_of(int32_t pid, uint64_t object)
{
	return object ^ (uint64_t)(uint32_t)pid << 43; /* above its 43 bits */
}

static struct request_total *total_of(struct requests *r, const struct called *called)
{
	char one[CALLED_TEXT], other[CALLED_TEXT];
	const char *name = called_text(called, one);
	uint64_t key = hash_text(HASH_START, name);
	struct request_total *t;

	while ((t = map_get(&r->names, key)) && strcmp(called_text(&t->called, other), name))
		key++;
	if (!t && (t = map_add(&r->names, key, sizeof(*t))))
		t->called = *called;
	return t;
}

static int lose(struct requests *r, struct request *q)
{
	struct request_total *t = q->begun_ns ? total_of(r, &q->called) : NULL;

	if (q->begun_ns && !t)
		return -ENOMEM;
	if (t)
		t->unfinished++;
	q->begun_ns = 0;
	return 0;
}

int requests_begin(struct requests *r, int32_t pid, uint64_t object, const struct called *called, uint64_t ns)
{
	uint64_t key = key_of(pid, object);
	struct request *q = map_get(&r->open, key);

	q = q ? q : map_add(&r->open, key, sizeof(*q));
	if (!q || lose(r, q))
		return -ENOMEM;
	*q = (struct request){ .called = *called, .pid = pid, .number = ++r->begun, .begun_ns = ns, .epoch = r->epoch };
	return 0;
}

struct request *requests_open(const struct requests *r, int32_t pid, uint64_t object)
{
	struct request *q = map_get(&r->open, key_of(pid, object));

	return q && q->begun_ns ? q : NULL;
}

const struct request *requests_current(const struct requests *r, struct request_ref of)
{
	while (of.at && of.at->number == of.number && !of.at->begun_ns)
		of = of.at->outer; /* an older one, so this ends */
	return of.at && of.at->number == of.number && of.at->epoch == r->epoch ? of.at : NULL;
}

/* Where it belongs among the slowest; REQUESTS_KEPT: it is none of them. */
static size_t rank_of(const struct requests *r, uint64_t ns)
{
	size_t at = r->n;

	while (at && r->slowest[at - 1]->ended_ns - r->slowest[at - 1]->begun_ns < ns)
		at--;
	return at;
}

static void request_free(struct request *q)
{
	critical_free(&q->path);
	free(q);
}

static void insert(struct requests *r, size_t at, struct request *q)
{
	if (r->n == REQUESTS_KEPT)
		request_free(r->slowest[--r->n]);
	memmove(&r->slowest[at + 1], &r->slowest[at], (r->n++ - at) * sizeof(*r->slowest));
	r->slowest[at] = q;
}

/* In `text`, which has room. NULL: all are 0. */
static const char *in_digits(const uint32_t *pieces, unsigned int n, char *text)
{
	uint32_t any = 0;

	for (unsigned int i = 0; i < n; i++) {
		any |= pieces[i];
		snprintf(text + 8 * i, 9, "%08" PRIx32, pieces[i]);
	}
	return any ? text : NULL;
}

const char *traced_trace_id(const struct traced *t, char text[TRACED_TEXT])
{
	return in_digits(t->pieces, MARKER_TRACE_PIECES, text);
}

const char *traced_span_id(const struct traced *t, char text[TRACED_TEXT])
{
	return in_digits(t->pieces + MARKER_TRACE_PIECES, MARKER_SPAN_PIECES, text);
}

static bool has_number(const struct request *q, const char *wanted)
{
	char *end;
	uint64_t number = strtoull(wanted, &end, 10);

	return end != wanted && !*end && q->number == number;
}

static bool has_trace_id(const struct request *q, const char *wanted)
{
	char text[TRACED_TEXT];
	const char *id = traced_trace_id(&q->traced, text);

	return id && !strcmp(id, wanted);
}

/* More so than the one that was found so far? */
static bool is_wanted(const struct requests *r, const struct request *q)
{
	const struct request *f = r->found;
	char text[CALLED_TEXT];

	if (!r->wanted || (f && has_number(f, r->wanted)))
		return false;
	if (has_number(q, r->wanted))
		return true;
	return (!strcmp(called_text(&q->called, text), r->wanted) || has_trace_id(q, r->wanted)) &&
	       (!f || q->ended_ns - q->begun_ns > f->ended_ns - f->begun_ns);
}

/* It has ended in this step. NULL: no memory. */
static struct request *with_path(const struct request *q, const struct steps *steps, uint64_t step)
{
	struct request *kept = malloc(sizeof(*kept));

	if (!kept)
		return NULL;
	*kept = *q;
	if (!critical_find(&kept->path, steps, step, q->begun_ns, q->ended_ns))
		return kept;
	request_free(kept);
	return NULL;
}

static void add_path(struct request_total *t, const struct critical *path)
{
	for (size_t i = 0; i < path->n; i++) {
		const struct critical_piece *c = &path->pieces[i];

		t->by_kind[c->kind] += c->ns;
		if (c->kind == CRITICAL_AWAITING || c->kind == CRITICAL_BLOCKED)
			waited_add(&t->waits, c->what, c->ns);
	}
}

static void add_time(struct request_total *t, const struct request *q)
{
	uint64_t ns = q->ended_ns - q->begun_ns;

	t->n++;
	t->ns += ns;
	if (ns <= t->longest_ns && t->longest)
		return;
	t->longest_ns = ns;
	t->longest = q->number;
}

/* Its path is kept if it is one of the slowest, or wanted. */
static int keep(struct requests *r, struct request_total *t, const struct request *q, const struct steps *steps,
		uint64_t step)
{
	size_t at = rank_of(r, q->ended_ns - q->begun_ns);
	struct request *kept = with_path(q, steps, step);

	if (!kept)
		return -ENOMEM;
	add_path(t, &kept->path);
	if (at < REQUESTS_KEPT)
		insert(r, at, kept);
	else
		request_free(kept);
	if (!is_wanted(r, q))
		return 0;
	if (r->found)
		request_free(r->found);
	r->found = with_path(q, steps, step);
	return r->found ? 0 : -ENOMEM;
}

int requests_end(struct requests *r, int32_t pid, uint64_t object, uint64_t ns, const struct steps *steps,
		 uint64_t step)
{
	struct request *q = map_get(&r->open, key_of(pid, object));
	struct request_total *t = q && q->begun_ns ? total_of(r, &q->called) : NULL;
	int err;

	if (!q || !q->begun_ns)
		return 0;
	if (!t)
		return -ENOMEM;
	q->ended_ns = ns;
	add_time(t, q);
	err = keep(r, t, q, steps, step);
	q->begun_ns = 0;
	return err;
}

int requests_finish(struct requests *r)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&r->open, s));)
		err = lose(r, s->value);
	return err;
}

static int by_time(const void *left, const void *right)
{
	const struct request_total *a = *(const struct request_total *const *)left;
	const struct request_total *b = *(const struct request_total *const *)right;
	char one[CALLED_TEXT], other[CALLED_TEXT];
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	return order ? order : strcmp(called_text(&a->called, one), called_text(&b->called, other));
}

const struct request_total **requests_ranked(const struct requests *r, size_t *n)
{
	const struct request_total **all = calloc(r->names.used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *m = NULL; all && (m = map_next(&r->names, m));)
		all[(*n)++] = m->value;
	if (all)
		qsort(all, *n, sizeof(*all), by_time);
	return all;
}

void requests_free(struct requests *r)
{
	for (size_t i = 0; i < r->n; i++)
		request_free(r->slowest[i]);
	if (r->found)
		request_free(r->found);
	map_free_all(&r->open);
	map_free_all(&r->names);
	*r = (struct requests){ 0 };
}
