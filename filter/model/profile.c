// SPDX-License-Identifier: MIT
/* Collects what the code objects hold, sorted so that equal traces give equal reports. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

static uint64_t ranked(enum rank rank, uint64_t ns, struct off off)
{
	return rank == RANK_TIME ? ns : rank == RANK_CPU ? ns - off.ns : off.waiting_ns;
}

uint64_t profile_ranked(const struct function *fn, enum rank rank)
{
	if (rank == RANK_WAITS)
		return fn->waits ? waits_ns(fn->waits) : 0;
	return rank == RANK_GIL ? fn->gil_held_ns : ranked(rank, fn->self_ns, fn->self_off);
}

static int by_self_time(const void *left, const void *right, void *rank)
{
	const struct code *a = *(struct code *const *)left, *b = *(struct code *const *)right;
	uint64_t x = profile_ranked(a->function, *(enum rank *)rank),
		 y = profile_ranked(b->function, *(enum rank *)rank);

	return x == y ? code_order(a, b) : x < y ? 1 : -1;
}

static int by_time(const void *left, const void *right, void *rank)
{
	const struct loop *a = *(struct loop *const *)left, *b = *(struct loop *const *)right;
	uint64_t x = ranked(*(enum rank *)rank, a->time, a->off), y = ranked(*(enum rank *)rank, b->time, b->off);
	int order = (x < y) - (x > y);

	order = order ?: (a->iterations < b->iterations) - (a->iterations > b->iterations);
	order = order ?: code_order(a->code, b->code);
	return order ? order : (a->head > b->head) - (a->head < b->head);
}

/* Calls visit for each code object that ran. */
static void each_function(const struct profile *p, void (*visit)(struct code *code, void *to), void *to)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		/* Before it exec'ed another interpreter, too. */
		for (const struct process *process = s->value; process; process = process->before)
			for (struct code *code = process->ran; code; code = code->ran_before)
				visit(code, to);
	}
}

struct count {
	size_t functions, loops;
};

static void count(struct code *code, void *to)
{
	struct count *c = to;

	c->functions++;
	c->loops += code->function->nloops;
}

static void add_any_function(struct code *code, void *to)
{
	struct code ***end = to;

	*(*end)++ = code;
}

static void add_function(struct code *code, void *to)
{
	if (!code->c)
		add_any_function(code, to);
}

static void add_c_function(struct code *code, void *to)
{
	if (code->c && !code->collects)
		add_any_function(code, to);
}

static void add_collections(struct code *code, void *to)
{
	struct collections_own *own = to;

	if (!code->collects)
		return;
	own[code->generation].ns += code->function->self_ns;
	own[code->generation].cycles += code->function->self_cycles;
	off_add(&own[code->generation].off, code->function->self_off);
}

void profile_collections(const struct profile *p, struct collections_own own[GENERATIONS])
{
	memset(own, 0, GENERATIONS * sizeof(*own));
	each_function(p, add_collections, own);
}

static void add_loops(struct code *code, void *to)
{
	struct loop ***end = to;

	for (uint32_t i = 0; i < code->function->nloops; i++)
		*(*end)++ = code->function->loops[i];
}

static struct code **ranked_functions(const struct profile *p, size_t *n, enum rank rank,
				      void (*add)(struct code *code, void *to))
{
	struct count c = { 0 };
	struct code **all, **end;

	each_function(p, count, &c);
	all = end = calloc(c.functions + 1, sizeof(*all));
	if (!all)
		return NULL;
	each_function(p, add, &end);
	*n = end - all;
	qsort_r(all, *n, sizeof(*all), by_self_time, &rank);
	return all;
}

struct code **profile_functions(const struct profile *p, size_t *n, enum rank rank)
{
	return ranked_functions(p, n, rank, add_function);
}

struct code **profile_c_functions(const struct profile *p, size_t *n, enum rank rank)
{
	return ranked_functions(p, n, rank, add_c_function);
}

struct code **profile_all_functions(const struct profile *p, size_t *n, enum rank rank)
{
	return ranked_functions(p, n, rank, add_any_function);
}

struct loop **profile_loops(const struct profile *p, size_t *n, enum rank rank)
{
	struct count c = { 0 };
	struct loop **all, **end;

	each_function(p, count, &c);
	all = end = calloc(c.loops + 1, sizeof(*all));
	if (!all)
		return NULL;
	each_function(p, add_loops, &end);
	*n = c.loops;
	qsort_r(all, *n, sizeof(*all), by_time, &rank);
	return all;
}

static int by_pid(const void *left, const void *right, void *root)
{
	const struct process *a = *(struct process *const *)left, *b = *(struct process *const *)right;

	if ((a == root) != (b == root))
		return a == root ? -1 : 1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

const struct process **profile_processes(const struct profile *p, size_t *n)
{
	const struct process **all = calloc(p->codes->processes.used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *s = NULL; all && (s = map_next(&p->codes->processes, s));)
		all[(*n)++] = s->value;
	if (all)
		qsort_r(all, *n, sizeof(*all), by_pid, (void *)profile_root(p));
	return all;
}

const struct process *profile_root(const struct profile *p)
{
	const struct process *root = NULL;

	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));) {
		const struct process *at = s->value;

		if (at->found && at->parent < 0 && (!root || at->pid < root->pid))
			root = at;
	}
	return root;
}

bool profile_has_cpu(const struct profile *p)
{
	return p->threads && !p->unseen;
}

bool profile_has_waits(const struct profile *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));)
		if (((const struct process *)s->value)->waits)
			return true;
	return false;
}

enum rank profile_rank(const struct profile *p)
{
	return profile_has_cpu(p) ? RANK_CPU : RANK_TIME;
}

double profile_share(const struct profile *p, const struct loop *loop)
{
	return p->traced_ns ? (double)loop->time / p->traced_ns : 0;
}

double profile_own_share(const struct profile *p, const struct loop *loop)
{
	return p->traced_ns ? (double)loop->own_time / p->traced_ns : 0;
}

bool profile_specializes(const struct profile *p)
{
	const struct process *root = profile_root(p);

	return !root || !root->unspecialized;
}

bool profile_jit(const struct profile *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));)
		if (((const struct process *)s->value)->jit)
			return true;
	return false;
}

bool profile_has_untold(const struct profile *p)
{
	for (struct map_slot *s = NULL; (s = map_next(&p->codes->processes, s));)
		if (((const struct process *)s->value)->greenlets_untold)
			return true;
	return false;
}

bool profile_instrumented(const struct profile *p)
{
	return p->events[OP_INSTRUCTION] && !(p->mode && !strcmp(p->mode, "opcodes"));
}
