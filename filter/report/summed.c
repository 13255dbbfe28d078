// SPDX-License-Identifier: MIT
/* Joined by place, and sorted by time. */
#include "summed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "joined.h"

/* What takes less of the time is not worth a row, or no row of its own if it is a library's. */
#define SHARE_ROW     0.001
#define SHARE_LIBRARY 0.1
/* Unless fewer than so many have a row, as of a script that only calls a library: then what has that much. */
#define ROWS_LEAST 3
#define SHARE_FEW  0.01

static struct summed of_function(const struct profile *p, const struct code *code)
{
	const struct function *f = code->function;

	return (struct summed){
		.code = code,
		.origin = origin_of(p->codes, code),
		.n = f->calls,
		.ns = f->total_ns,
		.own_ns = f->self_ns,
		.off = f->total_off,
		.own_off = f->self_off,
		.waits_ns = f->waits ? waits_ns(f->waits) : 0,
	};
}

static struct summed of_loop(const struct profile *p, const struct loop *loop)
{
	return (struct summed){
		.code = loop->code,
		.loop = loop,
		.origin = origin_of(p->codes, loop->code),
		.n = loop->iterations,
		.ns = loop->time,
		.own_ns = loop->own_time,
		.off = loop->off,
		.own_off = loop->own_off,
		.more = &loop->cycles,
	};
}

/* Of a place: parts of other groups, and other loops. */
static int by_part(const void *left, const void *right)
{
	const struct summed *a = left, *b = right;
	int64_t x = a->loop ? a->loop->head : 0, y = b->loop ? b->loop->head : 0;
	uint32_t one = a->group ? a->group->number : 0, other = b->group ? b->group->number : 0;

	return one != other ? (one > other) - (one < other) : (x > y) - (x < y);
}

/* What is in memory of its own, once. */
static int add_own(struct summed *to, struct summed *from)
{
	const struct pids *pids = &from->code->function->pids;
	const struct stat_sum *more = from->more;
	int err = 0;

	for (uint32_t i = 0; i < pids->n && !err; i++)
		err = pids_add(&to->pids, pids->all[i]);
	from->more = NULL;
	return err ?: more ? stat_join(&to->cycles, more) : 0;
}

static int join(void *one, void *other)
{
	struct summed *to = one, *more = other;
	int err = add_own(to, to) ?: add_own(to, more);

	if (more->own_ns > to->own_ns) {
		to->code = more->code;
		to->loop = more->loop;
	}
	to->n += more->n;
	to->ns += more->ns;
	to->own_ns += more->own_ns;
	off_add(&to->off, more->off);
	off_add(&to->own_off, more->own_off);
	to->waits_ns += more->waits_ns;
	return err;
}

uint64_t summed_busy(const struct profile *p, uint64_t ns, struct off off, uint64_t waits_ns)
{
	uint64_t less = profile_has_cpu(p) ? off.ns : waits_ns;

	return ns > less ? ns - less : 0;
}

uint64_t summed_own_busy(const struct profile *p, const struct summed *s)
{
	return summed_busy(p, s->own_ns, s->own_off, s->waits_ns);
}

uint64_t summed_all_busy(const struct profile *p)
{
	return summed_busy(p, p->traced_ns, p->traced_off, waits_ns(&p->all_waits));
}

static int by_busy(const void *left, const void *right, void *profile)
{
	const struct summed *a = left, *b = right;
	uint64_t x = summed_own_busy(profile, a), y = summed_own_busy(profile, b);
	int order = (a->first < b->first) - (a->first > b->first);

	order = order ?: (x < y) - (x > y);
	order = order ?: (a->ns < b->ns) - (a->ns > b->ns);
	order = order ?: (a->n < b->n) - (a->n > b->n);
	return order ?: code_order(a->code, b->code) ?: by_part(a, b);
}

static void rank(const struct profile *p, struct summed *all, size_t n, bool own_first)
{
	double whole = summed_all_busy(p);

	for (size_t i = 0; i < n; i++) {
		double busy = summed_own_busy(p, &all[i]);

		if (busy < SHARE_ROW * whole || !whole)
			continue;
		if (!own_first || (all[i].origin == ORIGIN_OWN && !all[i].code->c))
			all[i].first = 2;
		else
			all[i].first = busy >= SHARE_LIBRARY * whole;
	}
}

/* All are in order already; imports have one row, which says how to see them. */
static void rank_few(const struct profile *p, struct summed *all, size_t n)
{
	double whole = summed_all_busy(p);
	size_t ranked = 0;

	while (ranked < n && all[ranked].first)
		ranked++;
	for (size_t i = ranked; i < n && ranked < ROWS_LEAST; i++) {
		if (all[i].origin == ORIGIN_IMPORTS || !whole || summed_own_busy(p, &all[i]) < SHARE_FEW * whole)
			continue;
		all[i].first = 1;
		ranked++;
	}
}

static struct summed *finish(const struct profile *p, struct summed *all, size_t *n, bool own_first)
{
	ssize_t left = all ? joined_rows(all, *n, sizeof(*all), p->codes, by_part, join) : 0;
	int err = left < 0;

	for (ssize_t i = 0; i < left && !err; i++)
		err = add_own(&all[i], &all[i]);
	if (err || !all) {
		summed_free(all, *n);
		return NULL;
	}
	*n = left;
	rank(p, all, *n, own_first);
	qsort_r(all, *n, sizeof(*all), by_busy, (void *)p);
	rank_few(p, all, *n);
	qsort_r(all, *n, sizeof(*all), by_busy, (void *)p);
	return all;
}

static struct summed *sum(const struct profile *p, struct code **codes, size_t *n, bool own_first)
{
	struct summed *all = codes ? calloc(*n + 1, sizeof(*all)) : NULL;

	for (size_t i = 0; all && i < *n; i++)
		all[i] = of_function(p, codes[i]);
	free(codes);
	return finish(p, all, n, own_first);
}

struct summed *summed_functions(const struct profile *p, size_t *n, bool own_first)
{
	return sum(p, profile_functions(p, n, RANK_TIME), n, own_first);
}

struct summed *summed_c_functions(const struct profile *p, size_t *n)
{
	return sum(p, profile_c_functions(p, n, RANK_TIME), n, false);
}

static struct summed of_part(const struct profile *p, const struct part *part)
{
	return (struct summed){
		.code = part->code,
		.loop = part->loop,
		.origin = origin_of(p->codes, part->code),
		.group = part->group,
		.n = part->n,
		.ns = part->ns,
		.own_ns = part->own_ns,
		.off = part->off,
		.own_off = part->own_off,
		.more = part->loop ? &part->cycles : NULL,
	};
}

static const struct map *parts_in(const struct map_slot *group, bool loops)
{
	const struct group *g = group->value;

	return loops ? &g->loops : &g->functions;
}

struct summed *summed_parts(const struct profile *p, const struct parts *parts, bool loops, size_t *n, bool own_first)
{
	struct summed *all;
	size_t size = 1;

	for (struct map_slot *s = NULL; (s = map_next(&parts->groups, s));)
		size += parts_in(s, loops)->used;
	all = calloc(size, sizeof(*all));
	*n = 0;
	for (struct map_slot *s = NULL; all && (s = map_next(&parts->groups, s));)
		for (struct map_slot *k = NULL; (k = map_next(parts_in(s, loops), k));)
			all[(*n)++] = of_part(p, k->value);
	return finish(p, all, n, own_first);
}

struct summed *summed_loops(const struct profile *p, size_t *n, bool own_first)
{
	struct loop **loops = profile_loops(p, n, RANK_TIME);
	struct summed *all = loops ? calloc(*n + 1, sizeof(*all)) : NULL;

	for (size_t i = 0; all && i < *n; i++)
		all[i] = of_loop(p, loops[i]);
	free(loops);
	return finish(p, all, n, own_first);
}

const char *summed_details(const struct summed *s, char text[static SUMMED_DETAILS])
{
	*text = 0;
	if (s->pids.n > 1)
		snprintf(text, SUMMED_DETAILS,
			 "Details are of process %" PRId32 ", which has most of it; %" PRIu32 " processes ran it.",
			 s->code->process->pid, s->pids.n);
	return text;
}

void summed_free(struct summed *all, size_t n)
{
	for (size_t i = 0; all && i < n; i++) {
		stat_free(&all[i].cycles);
		free(all[i].pids.all);
	}
	free(all);
}
