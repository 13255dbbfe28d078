// SPDX-License-Identifier: MIT
#include "sampled.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

static int add(struct sampled *s, uint64_t stack, uint64_t n)
{
	uint64_t *count = map_get(&s->stacks, stack);

	if (!count)
		count = map_add(&s->stacks, stack, sizeof(*count));
	if (!count)
		return -ENOMEM;
	*count += n;
	s->n += n;
	return 0;
}

int sampled_add(struct sampled *s, uint32_t stack)
{
	return add(s, stack, 1);
}

int sampled_join(struct sampled *to, const struct sampled *more)
{
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&more->stacks, s));)
		err = add(to, s->key, *(uint64_t *)s->value);
	return err;
}

void sampled_free(struct sampled *s)
{
	map_free_all(&s->stacks);
	*s = (struct sampled){ 0 };
}

static struct sampled_row *row_of(struct map *rows, const struct native_function *f)
{
	uint64_t key = f ? f->id : 0;
	struct sampled_row *row = map_get(rows, key);

	if (!row && (row = map_add(rows, key, sizeof(*row))))
		row->function = f;
	return row;
}

static bool is_repeated(const struct native_stack *k, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (k->functions[j] == k->functions[i])
			return true;
	return false;
}

static int count(struct map *rows, const struct native_function *f, uint64_t n, size_t depth)
{
	struct sampled_row *row = row_of(rows, f);

	if (!row)
		return -ENOMEM;
	row->depth = row->n && row->depth < depth ? row->depth : depth;
	row->n += n;
	row->self += depth ? 0 : n;
	return 0;
}

/* A recursive function counts once. */
static int count_stack(struct map *rows, const struct native_stack *k, uint64_t n)
{
	int err = k ? 0 : count(rows, NULL, n, 0);

	for (size_t i = 0; k && i < k->n && !err; i++)
		if (!is_repeated(k, i) && (!i || !k->functions[i]->interpreter))
			err = count(rows, k->functions[i], n, i);
	return err;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static int compare_rows(const void *a, const void *b)
{
	const struct sampled_row *x = a, *y = b;
	int by = compare_numbers(x->n, y->n) ?: compare_numbers(x->self, y->self);

	by = by ?: compare_numbers(y->depth, x->depth);
	if (by || !x->function || !y->function)
		return by ? by : !x->function - !y->function;
	return strcmp(x->function->name, y->function->name) ?: strcmp(x->function->object, y->function->object);
}

static struct sampled_row *sorted(const struct map *rows, size_t *n)
{
	struct sampled_row *all = calloc(rows->used + 1, sizeof(*all));

	*n = 0;
	for (struct map_slot *s = NULL; all && (s = map_next(rows, s));)
		all[(*n)++] = *(struct sampled_row *)s->value;
	if (all)
		qsort(all, *n, sizeof(*all), compare_rows);
	return all;
}

struct sampled_row *sampled_rows(const struct sampled *s, const struct natives *names, size_t *n)
{
	struct sampled_row *all = NULL;
	struct map rows = { 0 };
	int err = 0;

	for (struct map_slot *k = NULL; !err && (k = map_next(&s->stacks, k));)
		err = count_stack(&rows, natives_stack(names, (uint32_t)k->key), *(uint64_t *)k->value);
	if (!err)
		all = sorted(&rows, n);
	map_free_all(&rows);
	return all;
}

double sampled_error(uint64_t k, uint64_t n)
{
	double share = n ? (double)k / n : 0;

	return n ? sqrt(share * (1 - share) / n) : 0;
}

static uint64_t samples_of(const struct code *code)
{
	return code->function->sampled ? code->function->sampled->n : 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct code *x = *(struct code *const *)a, *y = *(struct code *const *)b;

	return compare_numbers(samples_of(x), samples_of(y)) ?: compare_numbers(y->process->pid, x->process->pid) ?:
		strcmp(x->qualname ? x->qualname : "", y->qualname ? y->qualname : "");
}

struct code **sampled_functions(const struct profile *p, size_t *n)
{
	size_t all, with = 0;
	struct code **functions = profile_functions(p, &all, RANK_TIME);

	for (size_t i = 0; functions && i < all; i++)
		if (samples_of(functions[i]))
			functions[with++] = functions[i];
	if (functions)
		qsort(functions, with, sizeof(struct code *), compare_functions);
	*n = with;
	return functions;
}

static const char *text_or_none(const char *text)
{
	return text ? text : "";
}

static bool is_same_place(const struct code *a, const struct code *b)
{
	return a->firstlineno == b->firstlineno && !strcmp(text_or_none(a->qualname), text_or_none(b->qualname)) &&
	       !strcmp(text_or_none(a->file), text_or_none(b->file));
}

static int compare_places(const void *a, const void *b)
{
	const struct sampled_place *x = a, *y = b;
	int by = compare_numbers(x->all.n, y->all.n);

	by = by ?: strcmp(text_or_none(x->code->file), text_or_none(y->code->file));
	return by ?: compare_numbers((uint64_t)y->code->firstlineno, (uint64_t)x->code->firstlineno);
}

/* The place of a function among the first n; n: it is a new one. */
static size_t find_place(const struct sampled_place *all, size_t n, const struct code *code)
{
	size_t i = 0;

	while (i < n && !is_same_place(all[i].code, code))
		i++;
	return i;
}

struct sampled_place *sampled_places(const struct profile *p, size_t *n)
{
	size_t functions = 0;
	struct code **from = sampled_functions(p, &functions);
	struct sampled_place *all = from ? calloc(functions + 1, sizeof(*all)) : NULL;
	int err = all ? 0 : -ENOMEM;

	*n = 0;
	for (size_t i = 0; i < functions && !err; i++) {
		size_t at = find_place(all, *n, from[i]);

		if (at == *n)
			all[(*n)++].code = from[i];
		err = sampled_join(&all[at].all, from[i]->function->sampled);
	}
	free(from);
	if (!err)
		qsort(all, *n, sizeof(*all), compare_places);
	if (err && all)
		sampled_places_free(all, *n);
	return err ? NULL : all;
}

void sampled_places_free(struct sampled_place *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sampled_free(&all[i].all);
	free(all);
}
