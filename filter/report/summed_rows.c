// SPDX-License-Identifier: MIT
#include "summed_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "joined.h"
#include "shared/array.h"

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_most(const void *left, const void *right, void *then)
{
	const struct ranked *a = left, *b = right;
	joined_key *const *key = then;

	if (a->most != b->most)
		return a->most < b->most ? 1 : -1;
	return code_order(a->code, b->code) ?: *key ? (*key)(left, right) : 0;
}

/* 0 or a negative errno. */
static int sum(const struct profile *p, void *rows, size_t *n, size_t size, joined_key *key, joined_add *add)
{
	ssize_t left = joined_rows(rows, *n, size, p->codes, key, add);

	if (left < 0)
		return left;
	*n = left;
	qsort_r(rows, *n, size, by_most, &key);
	return 0;
}

/* The same of rows that own nothing. */
static void *summed(const struct profile *p, void *rows, size_t *n, size_t size, joined_key *key, joined_add *add)
{
	if (!rows || !sum(p, rows, n, size, key, add))
		return rows;
	free(rows);
	return NULL;
}

/* --- who waits -------------------------------------------------------------------------------------------- */

static struct waiting waiting_of(const struct code *code, uint64_t ns)
{
	const struct function *fn = code->function;
	struct waiting w = { .at = { code, ns }, .calls = fn->calls };

	if (fn->waits)
		w.told = *fn->waits;
	if (fn->idle)
		w.idle = *fn->idle;
	return w;
}

static int add_waiting(void *one, void *other)
{
	struct waiting *to = one, *more = other;

	to->at.most += more->at.most;
	to->calls += more->calls;
	waits_join(&to->told, &more->told);
	waits_join(&to->idle, &more->idle);
	return 0;
}

struct waiting *summed_waiting(const struct profile *p, size_t *n)
{
	enum rank rank = profile_has_cpu(p) ? RANK_WAITING : RANK_WAITS;
	size_t all, used = 0;
	struct code **codes = profile_all_functions(p, &all, rank);
	struct waiting *rows;

	*n = 0;
	while (codes && used < all && profile_ranked(codes[used]->function, rank))
		used++;
	rows = codes ? calloc(used + 1, sizeof(*rows)) : NULL;
	for (; rows && *n < used; ++*n)
		rows[*n] = waiting_of(codes[*n], profile_ranked(codes[*n]->function, rank));
	free(codes);
	return summed(p, rows, n, sizeof(*rows), NULL, add_waiting);
}

/* --- locks ------------------------------------------------------------------------------------------------ */

static int by_line(const void *left, const void *right)
{
	const struct summed_lock *a = left, *b = right;

	return compare(a->line, b->line);
}

static int add_lock(void *one, void *other)
{
	struct summed_lock *to = one, *more = other;

	to->at.most += more->at.most;
	wait_total_join(&to->waited, &more->waited);
	return 0;
}

struct summed_lock *summed_locks(const struct profile *p, size_t *n)
{
	const struct lock **all = locks_ranked(&p->locks, n);
	struct summed_lock *rows = all ? calloc(*n + 1, sizeof(*rows)) : NULL;

	for (size_t i = 0; rows && i < *n; i++)
		rows[i] = (struct summed_lock){ { all[i]->code, all[i]->waited.ns }, all[i]->line, all[i]->waited };
	free(all);
	return summed(p, rows, n, sizeof(*rows), by_line, add_lock);
}

/* --- the GIL ---------------------------------------------------------------------------------------------- */

static int add_holder(void *one, void *other)
{
	struct holder *to = one, *more = other;

	to->at.most += more->at.most;
	to->calls += more->calls;
	return 0;
}

struct holder *summed_holders(const struct profile *p, size_t *n)
{
	size_t all;
	struct code **codes = profile_functions(p, &all, RANK_GIL);
	struct holder *rows = codes ? calloc(all + 1, sizeof(*rows)) : NULL;

	*n = 0;
	for (; rows && *n < all && codes[*n]->function->gil_held_ns; ++*n)
		rows[*n] = (struct holder){ { codes[*n], codes[*n]->function->gil_held_ns },
					    codes[*n]->function->calls };
	free(codes);
	return summed(p, rows, n, sizeof(*rows), NULL, add_holder);
}

uint64_t summed_gil_ns(const struct profile *p)
{
	uint64_t ns = 0;

	for (uint64_t i = 0; i < p->threads; i++)
		ns += p->thread_totals[i].gil_ns;
	return ns;
}

/* --- specialization --------------------------------------------------------------------------------------- */

static int add_specialized(void *one, void *other)
{
	struct specialized_row *to = one, *more = other;

	to->at.most += more->at.most;
	specialization_join(&to->of, &more->of);
	return 0;
}

struct specialized_row *summed_specialization(const struct profile *p, size_t *n)
{
	enum rank rank = profile_rank(p);
	size_t all;
	struct code **codes = profile_functions(p, &all, rank);
	struct specialized_row *rows = codes ? calloc(all + 1, sizeof(*rows)) : NULL;

	*n = 0;
	for (size_t i = 0; rows && i < all; i++) {
		struct specialization s = specialization_of(codes[i]);

		if (s.known && s.instructions && codes[i]->process->ables)
			rows[(*n)++] = (struct specialized_row){ { codes[i], profile_ranked(codes[i]->function, rank) },
								 s };
	}
	free(codes);
	return summed(p, rows, n, sizeof(*rows), NULL, add_specialized);
}

/* --- exceptions ------------------------------------------------------------------------------------------- */

/* The one of that place, or a new one. NULL: no memory. */
static struct handler *handler_like(struct raised *r, const struct handler *h)
{
	for (uint32_t i = 0; i < r->nhandlers; i++)
		if (r->handlers[i].line == h->line && !code_place_order(r->handlers[i].code, h->code))
			return &r->handlers[i];
	if (!ARRAY_ONE_MORE(r->handlers, r->nhandlers))
		return NULL;
	r->handlers[r->nhandlers] = (struct handler){ .code = h->code, .line = h->line };
	return &r->handlers[r->nhandlers++];
}

static int add_handlers(struct raised *to, const struct raised *more)
{
	for (uint32_t i = 0; i < more->nhandlers; i++) {
		struct handler *h = handler_like(to, &more->handlers[i]);

		if (!h)
			return -ENOMEM;
		h->n += more->handlers[i].n;
	}
	return 0;
}

static int add_raised(void *one, void *other)
{
	struct raised_row *to = one, *more = other;
	int err = add_handlers(&to->of, &more->of);

	free(more->of.handlers);
	to->at.most += more->at.most;
	to->of.n += more->of.n;
	to->of.handled += more->of.handled;
	to->of.dropped += more->of.dropped;
	to->of.left += more->of.left;
	to->of.frames += more->of.frames;
	if (more->of.frames_most > to->of.frames_most)
		to->of.frames_most = more->of.frames_most;
	return err;
}

static int by_type_and_line(const void *left, const void *right)
{
	const struct raised *a = &((const struct raised_row *)left)->of, *b = &((const struct raised_row *)right)->of;
	int order = compare(a->line, b->line);

	if (order || !a->type || !b->type)
		return order ?: !!a->type - !!b->type;
	return strcmp(a->type->qualname, b->type->qualname) ?: strcmp(a->type->file, b->type->file);
}

/* Its handlers become the row's own. */
static int own_raised(struct raised_row *row, const struct raised *r)
{
	*row = (struct raised_row){ { r->code, r->n }, *r };
	row->of.handlers = NULL;
	row->of.nhandlers = 0;
	return add_handlers(&row->of, r);
}

struct raised_row *summed_raised(const struct profile *p, size_t *n)
{
	struct raised_row *rows = calloc(p->exceptions.n + 1, sizeof(*rows));
	int err = rows ? 0 : -ENOMEM;

	*n = p->exceptions.n;
	for (size_t i = 0; i < p->exceptions.n && !err; i++)
		err = own_raised(&rows[i], p->exceptions.in_order[i]);
	err = err ?: sum(p, rows, n, sizeof(*rows), by_type_and_line, add_raised);
	if (!err)
		return rows;
	summed_raised_free(rows, p->exceptions.n);
	return NULL;
}

void summed_raised_free(struct raised_row *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].of.handlers);
	free(rows);
}
