// SPDX-License-Identifier: MIT
#include "summary_diff.h"

#include <stdlib.h>

#include "base/value.h"
#include "code/origin.h"
#include "summary_parts.h"

static const char *const value_names[FLAME_VALUES] = { "wall", "waiting", "preempted", "calls", "cycles" };

static struct value *values(const struct profile *p)
{
	struct value *array = value_array();

	for (int i = 0; i < FLAME_VALUES; i++)
		if (profile_has_cpu(p) || (i != FLAME_WAITING && i != FLAME_PREEMPTED))
			array = value_append(array, value_text(value_names[i]));
	return array;
}

static struct value *places(const struct profile *p, const struct flame *f)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < f->nshown_places; i++) {
		const struct code *code = f->places[f->shown_places[i]].code;
		const struct value_number line[] = { { "firstlineno", code->c ? 0 : code->firstlineno } };
		struct value *o = value_join(summary_place(code), VALUE_NUMBERS(line));

		o = value_join(o, value_pack("{s:s}", "origin", code->c ? "c" : origin_key(origin_of(p->codes, code))));
		array = value_append(array, o);
	}
	return array;
}

/* [caller, function, ...]; of the first path, the whole run, both are 0. */
static struct value *paths(const struct flame *f, const struct flame_view *v)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < f->nshown; i++) {
		const struct flame_node *n = &f->nodes[f->shown[i]];
		int64_t caller = f->nodes[n->parent].of, place = i ? f->places[n->place].shown - 1 : 0;
		struct value *row = value_pack("[I, I]", caller, place);

		for (int k = 0; k < FLAME_VALUES; k++)
			row = value_append(row, value_integer(v->own[i].of[k]));
		array = value_append(array, row);
	}
	return array;
}

static bool is_none(const struct flame_values *v)
{
	uint64_t any = 0;

	for (int k = 0; k < FLAME_VALUES; k++)
		any |= v->of[k];
	return !any;
}

/* [path, ...]: what was cut below it. */
static struct value *cut(const struct flame *f, const struct flame_view *v)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < f->nshown; i++) {
		struct value *row;

		if (is_none(&v->cut[i]))
			continue;
		row = value_pack("[I]", (int64_t)i);
		for (int k = 0; k < FLAME_VALUES; k++)
			row = value_append(row, value_integer(v->cut[i].of[k]));
		array = value_append(array, row);
	}
	return array;
}

static int add_all(struct flame_view *v, const struct flame *f, const struct profile *p)
{
	struct flame_values all = flame_all(p);
	size_t n = 0;
	const struct call_root **roots = calltree_roots(f->tree, &n);
	int err = roots ? 0 : -1;

	for (size_t i = 0; i < n && !err; i++)
		err = flame_view_add(v, f, roots[i]->root);
	free(roots);
	flame_view_outside(v, f, &all);
	return err;
}

/* clang-format off */
struct value *summary_call_tree(const struct profile *p, const struct calltree *tree)
{
	struct flame f;
	struct flame_view v = { 0 };
	struct value *o = NULL;

	if (!flame_make(&f, tree) && !flame_view_make(&v, &f) && !add_all(&v, &f, p))
		o = value_pack("{s:o, s:I, s:I, s:o, s:o, s:o}",
			      "values", values(p),
			      "parts", (int64_t)f.parts,
			      "all_paths", (int64_t)f.nnodes - 1,
			      "functions", places(p, &f),
			      "paths", paths(&f, &v),
			      "cut", cut(&f, &v));
	flame_view_free(&v);
	flame_free(&f);
	return o;
}
/* clang-format on */

struct value *summary_cycles(const struct loop *loop)
{
	return value_pack("{s:o}", "cycles_distribution", summary_ranges(&loop->cycles));
}

static int64_t last_line(const struct code *code)
{
	int64_t last = 0;

	for (uint32_t i = 0; i < code->ninstrs; i++)
		last = code->instrs[i].line > last ? code->instrs[i].line : last;
	return last;
}

static struct value *lines(const struct source *s, int64_t first, int64_t last)
{
	struct value *array = value_array();

	for (int64_t i = first; i <= last && i - first < SUMMARY_SOURCE_LINES && source_line(s, i); i++)
		array = value_append(array, value_text(source_line(s, i)));
	return array;
}

struct value *summary_source(struct sources *sources, const struct profile *p, const struct code *code, unsigned *n)
{
	enum origin origin = origin_of(p->codes, code);
	int64_t last = last_line(code);
	const struct source *s;

	if (code->c || (origin != ORIGIN_OWN && origin != ORIGIN_SITE) || last < code->firstlineno ||
	    *n >= SUMMARY_SOURCES)
		return value_object();
	if (!sources->first)
		sources->dir = p->codes->dir;
	s = sources_get(sources, code->file, code->process->realtime_ns);
	if (!s)
		return NULL;
	if (s->why)
		return value_pack("{s:{s:s}}", "source", "why", s->why);
	++*n;
	return value_pack("{s:{s:o, s:b}}", "source", "lines", lines(s, code->firstlineno, last), "whole",
			  last - code->firstlineno < SUMMARY_SOURCE_LINES);
}
