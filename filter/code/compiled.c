// SPDX-License-Identifier: MIT
/*
 * An executor that is gone at the end is in no line, but which code object it was entered from the emulator knows: if
 * that has one loop, it is the one.
 */
#include "compiled.h"

#include <errno.h>
#include <stdlib.h>

#include "codes.h"
#include "shared/array.h"

/* A hash. Addresses are of pages mostly. */
static uint64_t key_of(uint32_t id, uint64_t entry)
{
	return entry * 0x9e3779b97f4a7c15 + id;
}

int compiled_add_executor(struct compiled *c, uint32_t id, int64_t offset, uint64_t entry)
{
	return map_put(&c->executors, key_of(id, entry), (void *)((uintptr_t)offset + 1));
}

int compiled_add_run(struct compiled *c, struct compiled_run run)
{
	if (!ARRAY_ROOM(c->runs, c->nruns, c->room))
		return -ENOMEM;
	c->runs[c->nruns++] = run;
	return 0;
}

void compiled_free(struct compiled *c)
{
	free(c->runs);
	map_free(&c->executors);
}

/* That a back-edge repeats; 0: unknown. */
static int32_t line_of_loop(const struct code *code, const struct instr *in)
{
	const struct back_edge *edge = code_back_edge(code, in->offset);

	return edge ? edge->line : 0;
}

/* The only one's, or 0. */
static int32_t line_of_only_loop(const struct code *code)
{
	const struct instr *only = NULL;

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		const struct instr *in = &code->instrs[i];

		if (!in->back_edge)
			continue;
		if (only && code_head(code, only) != code_head(code, in))
			return 0;
		only = in;
	}
	return only ? line_of_loop(code, only) : 0;
}

/* 3.15 may compile a whole function, too: from its RESUME on. */
static int32_t line_of(const struct process *p, const struct code *code, const struct compiled_run *run)
{
	uint64_t key = key_of(run->id, run->entry);
	uintptr_t known = (uintptr_t)map_get(&p->compiled.executors, key);
	uint32_t i;

	if (!known) /* a fork that ended by os._exit() has its parent's */
		known = (uintptr_t)map_get(&code->process->compiled.executors, key);
	i = known ? code_index(code, known - 1) : code->ninstrs;
	if (i >= code->ninstrs)
		return line_of_only_loop(code);
	return code->instrs[i].back_edge ? line_of_loop(code, &code->instrs[i]) : code->instrs[i].line;
}

static int compare_places(const struct compiled_row *a, const struct compiled_row *b)
{
	int order = code_order(a->code, b->code);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int by_place(const void *left, const void *right)
{
	return compare_places(left, right);
}

static int by_time(const void *left, const void *right)
{
	const struct compiled_row *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return compare_places(a, b);
}

/* Rows of one place become one. How many are left. */
static size_t merge(struct compiled_row *rows, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct compiled_row row = rows[i];

		if (!kept || compare_places(&rows[kept - 1], &row)) {
			rows[kept++] = row;
			continue;
		}
		rows[kept - 1].n += row.n;
		rows[kept - 1].ns += row.ns;
	}
	return kept;
}

uint64_t compiled_ns_of(const struct codes *codes)
{
	uint64_t ns = 0;

	for (struct map_slot *s = NULL; (s = map_next(&codes->processes, s));) {
		const struct compiled *c = &((const struct process *)s->value)->compiled;

		for (uint32_t i = 0; i < c->nruns; i++)
			ns += c->runs[i].ns;
	}
	return ns;
}

static size_t count_runs(const struct codes *codes)
{
	size_t n = 0;

	for (struct map_slot *s = NULL; (s = map_next(&codes->processes, s));)
		n += ((const struct process *)s->value)->compiled.nruns;
	return n;
}

static size_t add_rows(struct codes *codes, struct process *p, struct compiled_row *rows)
{
	size_t n = 0;

	for (uint32_t i = 0; i < p->compiled.nruns; i++) {
		const struct compiled_run *run = &p->compiled.runs[i];
		const struct code *code = codes_find(codes, p, run->id);

		if (code)
			rows[n++] = (struct compiled_row){ code, line_of(p, code, run), run->n, run->ns };
	}
	return n;
}

/* Looking for a parent may add a process: the map is not walked meanwhile. NULL: no memory. */
static struct process **processes_of(const struct codes *codes)
{
	struct process **all = calloc(codes->processes.used + 1, sizeof(*all)), **end = all;

	for (struct map_slot *s = NULL; all && (s = map_next(&codes->processes, s));)
		*end++ = s->value;
	return all;
}

struct compiled_row *compiled_rows(struct codes *codes, size_t *n)
{
	struct compiled_row *rows = calloc(count_runs(codes) + 1, sizeof(*rows));
	struct process **all = processes_of(codes);

	*n = 0;
	if (!rows || !all) {
		free(rows);
		free(all);
		return NULL;
	}
	for (struct process **p = all; *p; p++)
		*n += add_rows(codes, *p, rows + *n);
	free(all);
	qsort(rows, *n, sizeof(*rows), by_place);
	*n = merge(rows, *n);
	qsort(rows, *n, sizeof(*rows), by_time);
	return rows;
}
