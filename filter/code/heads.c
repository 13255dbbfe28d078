// SPDX-License-Identifier: MIT
#include "heads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum edge_kind {
	EDGE_NONE,     /* repeats nothing */
	EDGE_FOR,      /* to the FOR_ITER or GET_ANEXT */
	EDGE_TEST,     /* to the test of a `while`: `continue`, and from CPython 3.14 on every one */
	EDGE_BODY,     /* to the body, behind the copy of the test */
	EDGE_UNPLACED, /* of a loop, but the lines that would say of which are missing */
};

/* Indexes of instructions. */
struct edge {
	uint32_t source, target;
	uint32_t copy; /* EDGE_BODY: where the copy of the test begins */
	uint32_t body; /* EDGE_TEST, EDGE_BODY: where the loop's body begins, as far as it is known */
	uint32_t head;
	int32_t line; /* of the loop */
	enum edge_kind kind;
};

struct edges {
	const struct process *process;
	const struct code *code;
	struct edge *all;
	uint32_t n;
};

static const char *name_at(const struct edges *e, uint32_t i)
{
	return process_opname(e->process, e->code->instrs[i].base);
}

static int32_t line_at(const struct edges *e, uint32_t i)
{
	return i < e->code->ninstrs ? e->code->instrs[i].line : -1;
}

static bool is_at(const struct edges *e, uint32_t i, const char *name)
{
	return i < e->code->ninstrs && !strcmp(name_at(e, i), name);
}

/* EXTENDED_ARGs come before the instruction they belong to. */
static uint32_t behind_arguments(const struct edges *e, uint32_t i)
{
	while (is_at(e, i, "EXTENDED_ARG"))
		i++;
	return i;
}

/* The target of a `for` is on its line; what it iterates over may be on others. */
static int32_t line_of_for(const struct edges *e, uint32_t head)
{
	uint32_t i = head;

	while (is_at(e, head, "GET_ANEXT") && i + 1 < e->code->ninstrs && !is_at(e, i, "END_SEND"))
		i++;
	return line_at(e, i + 1) > 0 ? line_at(e, i + 1) : line_at(e, head);
}

/* The last exception handler between the two, the latter included; `from` if there is none. */
static uint32_t handler_between(const struct edges *e, uint32_t from, uint32_t to)
{
	while (to > from && !e->code->instrs[to].handler)
		to--;
	return to;
}

static int32_t first_line(const struct edges *e, uint32_t from, uint32_t to)
{
	while (from < to && line_at(e, from) <= 0)
		from++;
	return line_at(e, from);
}

/* Does control never pass from an instruction to the one behind it? */
static bool never_falls_through(const struct edges *e, uint32_t i)
{
	static const char *const ends[] = { "RETURN_", "RERAISE", "RAISE_", "JUMP_" };
	const char *name = name_at(e, i);

	for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++)
		if (!strncmp(name, ends[k], strlen(ends[k])))
			return strcmp(name, "RETURN_GENERATOR") != 0;
	return false;
}

/* Does control pass from `from` forwards to a line between the two, exclusive, before instruction `end`? */
static bool comes_to(const struct edges *e, uint32_t from, uint32_t end, int32_t first, int32_t last)
{
	bool *reached = calloc(end + 1, sizeof(*reached)), found = false;

	if (!reached)
		return false;
	reached[from] = true;
	for (uint32_t i = from; i < end && !found; i++) {
		const struct instr *in = &e->code->instrs[i];
		uint32_t to = in->target > (int32_t)in->offset ? code_index(e->code, in->target) : end;

		if (!reached[i])
			continue;
		found = first < in->line && in->line < last;
		if (to < end)
			reached[to] = true;
		reached[i + 1] |= !never_falls_through(e, i);
	}
	free(reached);
	return found;
}

/*
 * Does the jump leave an exception handler to continue behind the `try`? If it repeats a loop, the `try` is in it:
 * control passes from its head to a line before the handler's.
 */
static bool leaves_handler(const struct edges *e, const struct edge *edge)
{
	uint32_t handler = handler_between(e, edge->target, edge->source);
	int32_t source = line_at(e, edge->source), target = line_at(e, edge->target);
	int32_t first = first_line(e, handler, edge->source);

	if (handler == edge->target)
		return false;
	if (source <= 0 || target <= 0)
		return true;
	return source >= target ? !comes_to(e, edge->target, handler, target, first)
				: source >= first || !comes_to(e, edge->target, handler, source, first);
}

/* May the instruction belong to the same test as the jump? Not if control never passes on from it. */
static bool is_of_test(const struct edges *e, uint32_t i, const struct edge *edge)
{
	if (line_at(e, i) <= 0 || line_at(e, i) >= line_at(e, edge->target))
		return false;
	return !never_falls_through(e, i) || e->code->instrs[i].target == (int32_t)e->code->instrs[edge->target].offset;
}

/* The copy of the test ends with the jump. It begins on the line of the `while`. */
static void find_copy(const struct edges *e, struct edge *edge)
{
	edge->copy = edge->source;
	edge->line = line_at(e, edge->source);
	while (edge->copy - 1 > edge->target && is_of_test(e, edge->copy - 1, edge)) {
		edge->copy--;
		if (line_at(e, edge->copy) < edge->line)
			edge->line = line_at(e, edge->copy);
	}
}

static void classify(const struct edges *e, struct edge *edge)
{
	uint32_t target = behind_arguments(e, edge->target);
	int32_t to = line_at(e, edge->target), from = line_at(e, edge->source);

	edge->head = edge->body = edge->target;
	edge->line = to;
	if (is_at(e, target, "FOR_ITER") || is_at(e, target, "GET_ANEXT")) {
		edge->kind = EDGE_FOR;
		edge->line = line_of_for(e, target);
	} else if (is_at(e, target, "END_SEND") || leaves_handler(e, edge)) {
		edge->kind = EDGE_NONE;
	} else if (from <= 0 || to <= 0) {
		edge->kind = EDGE_UNPLACED;
	} else if (from < to) {
		edge->kind = EDGE_BODY;
		find_copy(e, edge);
	} else {
		edge->kind = EDGE_TEST;
	}
}

/* From a handler to the copy of a test: the trip continues. */
static bool joins_copy(const struct edges *e, const struct edge *edge)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->all[i].kind == EDGE_BODY && e->all[i].copy <= edge->target && edge->target <= e->all[i].source)
			return true;
	return false;
}

/* The body of the `while` whose test a `continue` jumps to: the next one of that line. */
static uint32_t body_of(const struct edges *e, const struct edge *edge)
{
	uint32_t body = UINT32_MAX;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct edge *other = &e->all[i];

		if (other->kind == EDGE_BODY && other->line == edge->line && other->target >= edge->target &&
		    other->target < body)
			body = other->target;
	}
	return body < UINT32_MAX ? body : edge->target;
}

static bool is_while(const struct edge *edge)
{
	return edge->kind == EDGE_TEST || edge->kind == EDGE_BODY;
}

/* The lowest target of its back-edges. */
static uint32_t lowest_target(const struct edges *e, const struct edge *edge)
{
	uint32_t lowest = edge->target;

	for (uint32_t i = 0; i < e->n; i++)
		if (is_while(&e->all[i]) && e->all[i].body == edge->body && e->all[i].line == edge->line &&
		    e->all[i].target < lowest)
			lowest = e->all[i].target;
	return lowest;
}

/* A `while` at the beginning of its body has its head there, too: then this one's is at its own first test. */
static uint32_t own_head(const struct edges *e, const struct edge *edge)
{
	uint32_t head = edge->head;
	bool shared = false;

	for (uint32_t i = 0; i < e->n; i++)
		shared |= e->all[i].kind == EDGE_TEST && e->all[i].target == head && e->all[i].line > edge->line;
	while (shared && head && line_at(e, head - 1) >= edge->line && line_at(e, head - 1) < line_at(e, edge->target))
		head--;
	return head;
}

static void settle(struct edges *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		classify(e, &e->all[i]);
	for (uint32_t i = 0; i < e->n; i++)
		if (e->all[i].kind == EDGE_TEST && joins_copy(e, &e->all[i]))
			e->all[i].kind = EDGE_NONE;
	for (uint32_t i = 0; i < e->n; i++)
		if (e->all[i].kind == EDGE_TEST)
			e->all[i].body = body_of(e, &e->all[i]);
	for (uint32_t i = 0; i < e->n; i++)
		if (is_while(&e->all[i]))
			e->all[i].head = lowest_target(e, &e->all[i]);
	for (uint32_t i = 0; i < e->n; i++)
		if (e->all[i].kind == EDGE_BODY)
			e->all[i].head = own_head(e, &e->all[i]);
}

static bool is_back_edge(const struct instr *in)
{
	return in->back_edge && in->target >= 0 && (uint32_t)in->target <= in->offset;
}

/* -1: it repeats nothing. A head at the beginning of the bytecode counts as none: then it is the target. */
static int32_t kept_head(const struct edges *e, const struct edge *edge)
{
	const struct instr *in = e->code->instrs;

	return edge->kind == EDGE_NONE ? -1 : (int32_t)in[edge->head].offset ?: in[edge->source].target;
}

static int keep(const struct edges *e, struct process *p, struct code *code)
{
	code->back_edges = pool_take(&p->pool, e->n * sizeof(*code->back_edges));
	code->nback_edges = code->back_edges ? e->n : 0;
	for (uint32_t i = 0; i < code->nback_edges; i++)
		code->back_edges[i] = (struct back_edge){
			.offset = code->instrs[e->all[i].source].offset,
			.head = kept_head(e, &e->all[i]),
			.line = e->all[i].line,
		};
	return code->back_edges ? 0 : -ENOMEM;
}

int heads_mark(struct process *p, struct code *code)
{
	struct edges e = { .process = p, .code = code };
	int err;

	for (uint32_t i = 0; i < code->ninstrs; i++)
		e.n += is_back_edge(&code->instrs[i]);
	e.all = e.n ? calloc(e.n, sizeof(*e.all)) : NULL;
	if (e.n && !e.all)
		return -ENOMEM;
	e.n = 0;
	for (uint32_t i = 0; i < code->ninstrs; i++)
		if (is_back_edge(&code->instrs[i]))
			e.all[e.n++] = (struct edge){ .source = i, .target = code_index(code, code->instrs[i].target) };
	settle(&e);
	err = keep(&e, p, code);
	free(e.all);
	return err;
}
