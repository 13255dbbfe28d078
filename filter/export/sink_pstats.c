// SPDX-License-Identifier: MIT
/*
 * A dict {function: (calls that are not recursive, calls, self, total, callers)}, callers {function: (calls, those not
 * recursive, self, total)}, times in seconds: as cProfile.Profile.dump_stats writes it (Lib/cProfile.py). A function is
 * (file, first line, co_name). Code objects that share these, mainly those of several processes, are one there, and so
 * they are here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "marshal.h"
#include "model/callers.h"
#include "sink_calls.h"

/* Functions in the order of their labels; those of one label share its number. */
struct labels {
	uint32_t *order; /* index into callers.functions */
	uint32_t *of;	 /* [function] label */
};

static int compare_labels(const struct code *a, const struct code *b)
{
	int order = strcmp(a->file, b->file);

	order = order ?: (a->firstlineno > b->firstlineno) - (a->firstlineno < b->firstlineno);
	return order ? order : strcmp(code_name(a), code_name(b));
}

static int by_code(const void *left, const void *right)
{
	return compare_labels(*(struct code *const *)left, *(struct code *const *)right);
}

/* Each code object of the tree once. *n of them, in one malloc'ed array; NULL: no memory. */
static struct code **codes_of(const struct calltree *t, size_t *n)
{
	struct code **all = calloc(t->nnodes + 1, sizeof(*all));
	struct map seen = { 0 };
	int err = all ? 0 : -ENOMEM;

	*n = 0;
	for (uint32_t i = 1; i < t->nnodes && !err; i++) {
		struct code *code = t->nodes[i].code;

		if (!code || map_get(&seen, (uintptr_t)code))
			continue;
		all[(*n)++] = code;
		err = map_put(&seen, (uintptr_t)code, code);
	}
	map_free(&seen);
	if (!err)
		return all;
	free(all);
	return NULL;
}

/* code -> the first with its label: they are one function, whose total counts once. 0 or -ENOMEM. */
static int find_same(struct map *same, const struct calltree *t)
{
	size_t n;
	struct code **all = codes_of(t, &n);
	int err = all ? 0 : -ENOMEM;

	if (n)
		qsort(all, n, sizeof(*all), by_code);
	for (size_t i = 0, of = 0; i < n && !err; i++) {
		of = compare_labels(all[of], all[i]) ? i : of;
		err = map_put(same, (uintptr_t)all[i], all[of]);
	}
	free(all);
	return err;
}

static int by_label(const void *left, const void *right, void *functions)
{
	const struct call_function *f = functions;

	return compare_labels(f[*(const uint32_t *)left].code, f[*(const uint32_t *)right].code);
}

static int by_callee_and_caller(const void *left, const void *right, void *labels)
{
	const struct call_edge *a = left, *b = right;
	const uint32_t *of = ((struct labels *)labels)->of;

	if (of[a->callee] != of[b->callee])
		return of[a->callee] < of[b->callee] ? -1 : 1;
	return (of[a->caller] > of[b->caller]) - (of[a->caller] < of[b->caller]);
}

static int sort(struct labels *l, struct callers *c)
{
	l->order = calloc(c->nfunctions + 1, sizeof(*l->order));
	l->of = calloc(c->nfunctions + 1, sizeof(*l->of));
	if (!l->order || !l->of)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nfunctions; i++)
		l->order[i] = i;
	if (c->nfunctions)
		qsort_r(l->order, c->nfunctions, sizeof(*l->order), by_label, c->functions);
	for (uint32_t i = 1; i < c->nfunctions; i++)
		l->of[l->order[i]] = l->of[l->order[i - 1]] + !!by_label(&l->order[i - 1], &l->order[i], c->functions);
	if (c->nedges) /* NULL if there are none */
		qsort_r(c->edges, c->nedges, sizeof(*c->edges), by_callee_and_caller, l);
	return 0;
}

static void put_label(struct out *o, const struct code *code)
{
	marshal_tuple(o, 3);
	marshal_str(o, code->file);
	marshal_int(o, code->firstlineno > 0 ? code->firstlineno : 0);
	marshal_str(o, code_name(code));
}

static void put_times(struct out *o, const struct call_sum *sum)
{
	marshal_float(o, sum->self_ns / 1e9);
	marshal_float(o, sum->total_ns / 1e9);
}

/* The edges that lead to `label`, from *e on; moves *e behind them. */
static void put_callers(struct out *o, const struct callers *c, const struct labels *l, uint32_t label, uint32_t *e)
{
	marshal_dict(o);
	while (*e < c->nedges && l->of[c->edges[*e].callee] == label) {
		uint32_t caller = c->edges[*e].caller;
		struct call_sum sum = { 0 };

		for (; *e < c->nedges && l->of[c->edges[*e].callee] == label &&
		       l->of[c->edges[*e].caller] == l->of[caller];
		     ++*e)
			call_sum_add(&sum, &c->edges[*e].sum);
		put_label(o, c->functions[caller].code);
		marshal_tuple(o, 4);
		marshal_int(o, sum.calls);
		marshal_int(o, sum.calls - sum.recursive);
		put_times(o, &sum);
	}
	marshal_end_dict(o);
}

static void put_all(struct out *o, const struct callers *c, const struct labels *l)
{
	uint32_t e = 0;

	marshal_dict(o);
	for (uint32_t i = 0; i < c->nfunctions;) {
		uint32_t label = l->of[l->order[i]];
		struct call_sum sum = { 0 };

		put_label(o, c->functions[l->order[i]].code);
		for (; i < c->nfunctions && l->of[l->order[i]] == label; i++)
			call_sum_add(&sum, &c->functions[l->order[i]].sum);
		marshal_tuple(o, 5);
		marshal_int(o, sum.calls - sum.recursive);
		marshal_int(o, sum.calls);
		put_times(o, &sum);
		put_callers(o, c, l, label, &e);
	}
	marshal_end_dict(o);
}

static int write_pstats(struct sink_calls *s, const struct profile *p)
{
	struct callers c = { 0 };
	struct labels l = { 0 };
	struct map same = { 0 };
	int err = find_same(&same, &s->tree);

	(void)p;
	err = err ?: callers_sum(&c, &s->tree, &same);
	err = err ?: sort(&l, &c);
	if (!err)
		put_all(&s->file.out, &c, &l);
	free(l.order);
	free(l.of);
	callers_free(&c);
	map_free(&same);
	return err;
}

int sink_pstats_open(struct sink **out, const struct sink_options *o, char *error)
{
	int err = sink_calls_open(out, o, error, write_pstats);

	if (!err)
		((struct sink_calls *)*out)->profiled = true;
	return err;
}
