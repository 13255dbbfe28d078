// SPDX-License-Identifier: MIT
/*
 * Totals are kept in their code object, so that a sample finds them without a look-up. A code object has few loops,
 * kept sorted; each is allocated separately because open loops point to it.
 */
#include "function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

static struct function *new_function(void)
{
	struct function *f = aligned_alloc(_Alignof(struct function), sizeof(*f));

	return f ? memset(f, 0, sizeof(*f)) : NULL;
}

struct function *function_of(struct code *code)
{
	if (!code->function && (code->function = new_function())) {
		code->release = function_free;
		code->ran_before = code->process->ran;
		code->process->ran = code;
	}
	return code->function;
}

/* In the source. If the bytecode does not say: the head's. */
static int32_t line_of(const struct code *code, int64_t head)
{
	uint32_t at = code_index(code, head);

	for (uint32_t i = 0; at < code->ninstrs && i < code->nback_edges; i++) {
		const struct back_edge *edge = &code->back_edges[i];

		if (edge->line > 0 && edge->offset >= code->instrs[at].offset && edge->head == head)
			return edge->line;
	}
	return at < code->ninstrs && code->instrs[at].line > 0 ? code->instrs[at].line : 0;
}

static struct loop *insert_loop(struct function *f, struct code *code, uint32_t at, int64_t head)
{
	struct loop *loop = ARRAY_ONE_MORE(f->loops, f->nloops) ? calloc(1, sizeof(*loop)) : NULL;

	if (!loop)
		return NULL;
	memmove(f->loops + at + 1, f->loops + at, (f->nloops - at) * sizeof(loop));
	f->nloops++;
	loop->code = code;
	loop->head = head;
	loop->line = line_of(code, head);
	loop->extent = extent_of(code, head);
	return f->loops[at] = loop;
}

int pids_add(struct pids *p, int32_t pid)
{
	uint32_t i = 0;

	while (i < p->n && p->all[i] < pid)
		i++;
	if (i < p->n && p->all[i] == pid)
		return 0;
	if (!ARRAY_ONE_MORE(p->all, p->n))
		return -ENOMEM;
	memmove(p->all + i + 1, p->all + i, (p->n++ - i) * sizeof(*p->all));
	p->all[i] = pid;
	return 0;
}

uint32_t function_loops_before(const struct function *f, int64_t offset)
{
	uint32_t low = 0, high = f->nloops;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (f->loops[mid]->head < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct loop *function_loop(struct code *code, int64_t head)
{
	struct function *f = function_of(code);
	uint32_t at = f ? function_loops_before(f, head) : 0;

	if (!f)
		return NULL;
	return at < f->nloops && f->loops[at]->head == head ? f->loops[at] : insert_loop(f, code, at, head);
}

struct instr_cost *function_cost(struct code *code, int64_t offset)
{
	struct function *f = function_of(code);
	uint32_t i = code_index(code, offset);

	if (!f || i >= code->ninstrs)
		return NULL;
	if (!f->costs)
		f->costs = calloc(code->ninstrs, sizeof(*f->costs));
	return f->costs ? &f->costs[i] : NULL;
}

static void make_lines(struct function *f, const struct code *code)
{
	int32_t first, last;

	f->lineless = !code_lines(code, &first, &last);
	if (f->lineless)
		return;
	f->lines = calloc(last - first + 1, sizeof(*f->lines));
	f->nlines = f->lines ? last - first + 1 : 0;
	f->first_line = first;
}

struct line_cost *function_line(struct code *code, int64_t line)
{
	struct function *f = function_of(code);

	if (f && !f->lines && !f->lineless)
		make_lines(f, code);
	if (!f || line < f->first_line || line - f->first_line >= f->nlines)
		return NULL;
	return &f->lines[line - f->first_line];
}

/*
 * CPython keeps a line as its distance from the first one, less one for 16 code units, in eight bits. What that has no
 * room for is looked up from the beginning of the line table, which has about as many bytes for each code unit.
 */
static bool is_looked_up(const struct code *code, const struct instr *in)
{
	int64_t delta = in->line - code->firstlineno - in->offset / 32;

	return delta > INT8_MAX || delta <= INT8_MIN + 1;
}

/* To be freed; of each instruction: it is reached by a jump or an exception. NULL: no memory. */
static bool *jumped_to(const struct code *code)
{
	bool *is = calloc(code->ninstrs + 1, sizeof(*is));

	for (uint32_t i = 0; i < code->ninstrs && is; i++) {
		is[i] |= code->instrs[i].handler;
		if (code->instrs[i].target >= 0)
			is[code_index(code, code->instrs[i].target)] = true;
	}
	return is;
}

/* Also the line before it, where that may be the same one. */
static unsigned int lookups(const struct code *code, bool jumped)
{
	return jumped || (code->process && code->process->looks_twice) ? 2 : 1;
}

static double sum_lookups(const struct code *code, const bool *jumped, bool *seen)
{
	const struct function *f = code->function;
	double ns = 0;

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		const struct instr *in = &code->instrs[i];
		int64_t line = (int64_t)in->line - f->first_line;

		if (line < 0 || line >= f->nlines || seen[line])
			continue;
		seen[line] = true;
		if (is_looked_up(code, in))
			ns += (double)f->lines[line].n * lookups(code, jumped[i]) * code->line_lookup_ns * in->offset /
			      (2.0 * code->units);
	}
	return ns;
}

uint64_t function_lookup_ns(const struct code *code)
{
	const struct function *f = code->function;
	uint64_t busy = f->self_ns - f->self_off.ns;
	bool *seen, *jumped;
	double ns = 0;

	if (!f->nlines || !code->units || !code->line_lookup_ns)
		return 0;
	seen = calloc(f->nlines, sizeof(*seen));
	jumped = jumped_to(code);
	if (seen && jumped)
		ns = sum_lookups(code, jumped, seen);
	free(seen);
	free(jumped);
	return ns < busy ? (uint64_t)ns : busy;
}

static bool is_pair(const struct follower *a, const struct follower *b)
{
	return a->from == b->from && a->base == b->base && a->adaptive == b->adaptive;
}

int instr_cost_follow(struct instr_cost *cost, struct follower pair)
{
	uint32_t i = 0;

	while (i < cost->nfollowers && !is_pair(&cost->followers[i], &pair))
		i++;
	if (i == cost->nfollowers) {
		if (!ARRAY_ONE_MORE(cost->followers, i))
			return -ENOMEM;
		cost->followers[cost->nfollowers++] = pair;
	}
	cost->followers[i].n++;
	return i;
}

struct instr_form *instr_cost_form(struct instr_cost *cost, uint8_t opcode)
{
	for (uint32_t i = 0; i < cost->nforms; i++)
		if (cost->forms[i].opcode == opcode)
			return &cost->forms[i];
	if (!ARRAY_ONE_MORE(cost->forms, cost->nforms))
		return NULL;
	cost->forms[cost->nforms] = (struct instr_form){ .opcode = opcode };
	return &cost->forms[cost->nforms++];
}

/* --- two parts of a recording -------------------------------------------------------------------------------- */

static int join_loop(struct loop *to, const struct loop *more)
{
	extent_reach(&to->extent, more->extent.end);
	to->entries += more->entries;
	to->iterations += more->iterations;
	to->time += more->time;
	to->own_time += more->own_time;
	to->suspended_ns += more->suspended_ns;
	off_add(&to->off, more->off);
	off_add(&to->own_off, more->own_off);
	to->uops += more->uops;
	return stat_join(&to->cycles, &more->cycles) ?: stat_join(&to->trips, &more->trips);
}

static int join_loops(struct code *to, const struct function *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->nloops && !err; i++) {
		struct loop *loop = function_loop(to, more->loops[i]->head);

		err = loop ? join_loop(loop, more->loops[i]) : -ENOMEM;
	}
	return err;
}

static int join_lines(struct code *to, const struct function *more)
{
	struct function *f = to->function;

	f->lineless |= more->lineless;
	if (more->lines && !f->lines)
		make_lines(f, to);
	if (more->lines && !f->lines)
		return -ENOMEM;
	for (uint32_t i = 0; i < more->nlines; i++) {
		f->lines[i].n += more->lines[i].n;
		f->lines[i].cycles += more->lines[i].cycles;
		f->lines[i].waiting_ns += more->lines[i].waiting_ns;
	}
	return 0;
}

static int join_waits(struct waits **to, const struct waits *more)
{
	if (more && !*to && !(*to = calloc(1, sizeof(**to))))
		return -ENOMEM;
	if (more)
		waits_join(*to, more);
	return 0;
}

static int join_sampled(struct function *f, const struct function *more)
{
	if (more->sampled && !f->sampled && !(f->sampled = calloc(1, sizeof(*f->sampled))))
		return -ENOMEM;
	return more->sampled ? sampled_join(f->sampled, more->sampled) : 0;
}

static int join_pids(struct function *f, const struct function *more)
{
	int err = 0;

	for (uint32_t i = 0; i < more->pids.n && !err; i++)
		err = pids_add(&f->pids, more->pids.all[i]);
	return err;
}

static void join_objects(struct function *f, const struct function *more)
{
	f->objects += more->objects;
	f->older_objects += more->older_objects;
	f->suspended_ns += more->suspended_ns;
	f->ended_objects += more->ended_objects;
	f->lifetime_ns += more->lifetime_ns;
}

static void join_totals(struct function *f, const struct function *more)
{
	for (int op = 0; op < OP_COUNT; op++)
		f->events[op] += more->events[op];
	f->calls += more->calls;
	f->resumes += more->resumes;
	f->recursive_calls += more->recursive_calls;
	f->unfinished += more->unfinished;
	f->total_ns += more->total_ns;
	f->self_ns += more->self_ns;
	f->total_cycles += more->total_cycles;
	f->self_cycles += more->self_cycles;
	off_add(&f->total_off, more->total_off);
	off_add(&f->self_off, more->self_off);
	f->cpu_unknown |= more->cpu_unknown;
	f->gil_held_ns += more->gil_held_ns;
	spread_join(&f->self_spread, &more->self_spread);
}

int function_join(struct code *to, const struct code *from)
{
	const struct function *more = from->function;
	struct function *f = function_of(to);
	int err = f ? join_loops(to, more) : -ENOMEM;

	if (err)
		return err;
	join_totals(f, more);
	join_objects(f, more);
	err = join_lines(to, more) ?: join_waits(&f->waits, more->waits) ?: join_waits(&f->idle, more->idle);
	return err ?: join_sampled(f, more) ?: join_pids(f, more);
}

static void loop_free(struct loop *loop)
{
	stat_free(&loop->cycles);
	stat_free(&loop->trips);
	free(loop->paths);
	free(loop);
}

void function_free(struct code *code)
{
	struct function *f = code->function;

	if (!f)
		return;
	for (uint32_t i = 0; f->costs && i < code->ninstrs; i++) {
		free(f->costs[i].followers);
		free(f->costs[i].forms);
		free(f->costs[i].changes);
	}
	for (uint32_t i = 0; i < f->nloops; i++)
		loop_free(f->loops[i]);
	free(f->waits);
	free(f->idle);
	free(f->pids.all);
	if (f->sampled)
		sampled_free(f->sampled);
	free(f->sampled);
	free(f->loops);
	free(f->costs);
	free(f->lines);
	free(f);
	code->function = NULL;
}
