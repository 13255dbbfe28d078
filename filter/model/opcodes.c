// SPDX-License-Identifier: MIT
/*
 * Opcode numbers are valid within one interpreter only, and a recording may have several: rows are found by name. A map
 * by (process, number) comes before that search; it is used for each instruction of a code object, not for each event.
 */
#include "opcodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"

enum opcodes_source opcodes_source(const struct profile *p)
{
	if (p->events[OP_INSTRUCTION])
		return OPCODES_MEASURED;
	if (p->events[OP_JUMP] || (p->mode && !strcmp(p->mode, "adaptive")))
		return OPCODES_DERIVED;
	return OPCODES_UNKNOWN;
}

/* Room for one more element; sizes double at powers of two. */
static void *grow(void *array, uint32_t n, size_t size)
{
	return n & (n - 1) ? array : realloc(array, (n ? 2 * (size_t)n : 1) * size);
}

uint32_t opcodes_find(const struct opcodes *o, const char *base, const char *specialized)
{
	for (uint32_t i = 0; i < o->nrows; i++)
		if (!strcmp(o->rows[i].base, base) && !strcmp(o->rows[i].specialized, specialized))
			return i;
	return OPCODES_NONE;
}

/* Can the next instruction in the code never run after it? */
static bool leaves(const char *name)
{
	static const char *const prefixes[] = { "RETURN_", "JUMP_", "RAISE_", "RERAISE", "INTERPRETER_EXIT" };

	if (!strcmp(name, "RETURN_GENERATOR"))
		return false;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static uint32_t make_row(struct opcodes *o, const char *base, const char *specialized)
{
	struct opcode_row *rows = grow(o->rows, o->nrows, sizeof(*rows));

	if (!rows)
		return OPCODES_NONE;
	o->rows = rows;
	rows[o->nrows] = (struct opcode_row){ .base = base, .specialized = specialized, .leaves = leaves(base) };
	return o->nrows++;
}

/* User addresses have 47 bits. */
uint32_t opcodes_row(struct opcodes *o, const struct process *p, uint8_t base, uint8_t adaptive)
{
	uint64_t key = (uint64_t)(uintptr_t)p << 16 | base << 8 | adaptive;
	uintptr_t known = (uintptr_t)map_get(&o->row_of, key);
	const char *name = process_opname(p, base);
	const char *specialized = process_opname(p, (uint8_t)key);
	uint32_t row;

	if (known)
		return known - 1;
	row = opcodes_find(o, name, specialized);
	if (row == OPCODES_NONE)
		row = make_row(o, name, specialized);
	if (row == OPCODES_NONE || map_put(&o->row_of, key, (void *)((uintptr_t)row + 1)))
		return OPCODES_NONE;
	return row;
}

static int add_pair(struct opcodes *o, uint32_t from, uint32_t to, uint64_t n, uint64_t ns)
{
	uint64_t key = map_pair(from, to);
	uintptr_t known = (uintptr_t)map_get(&o->pair_of, key);
	struct opcode_pair *pairs;

	if (!known) {
		pairs = grow(o->pairs, o->npairs, sizeof(*pairs));
		if (!pairs)
			return -ENOMEM;
		o->pairs = pairs;
		pairs[o->npairs] = (struct opcode_pair){ .from = from, .to = to };
		known = ++o->npairs;
		if (map_put(&o->pair_of, key, (void *)known))
			return -ENOMEM;
	}
	o->pairs[known - 1].n += n;
	o->pairs[known - 1].ns += ns;
	return 0;
}

static void add_cost(struct opcodes *o, struct opcode_row *row, const struct process *p, const struct instr_cost *cost)
{
	const struct callback *callback = &p->callbacks[OP_INSTRUCTION];

	row->n += cost->n;
	row->timed += cost->timed;
	row->ns += cost->ns;
	row->cycles += cost->cycles;
	o->n += cost->n;
	o->ns += cost->ns;
	o->cycles += cost->cycles;
	if (o->source == OPCODES_MEASURED) {
		row->callbacks.least += cost->n * callback->least;
		row->callbacks.most += cost->n * callback->most;
		o->callbacks.least += cost->n * callback->least;
		o->callbacks.most += cost->n * callback->most;
	}
}

static int add_form(struct opcodes *o, const struct process *p, const struct instr *instr, uint8_t opcode,
		    const struct instr_cost *cost)
{
	uint32_t row = opcodes_row(o, p, instr->base, opcode);

	if (row == OPCODES_NONE)
		return -ENOMEM;
	add_cost(o, &o->rows[row], p, cost);
	return 0;
}

/* Executions whose form no sample has: they ran as the code table says. */
static int add_forms(struct opcodes *o, const struct process *p, const struct instr *instr,
		     const struct instr_cost *cost)
{
	struct instr_cost rest = *cost;
	int err = 0;

	for (uint32_t i = 0; i < cost->nforms && !err; i++) {
		const struct instr_form *form = &cost->forms[i];
		struct instr_cost part = { .n = form->n, .timed = form->timed, .ns = form->ns, .cycles = form->cycles };

		err = add_form(o, p, instr, form->opcode, &part);
		rest.n -= form->n;
		rest.timed -= form->timed;
		rest.ns -= form->ns;
		rest.cycles -= form->cycles;
	}
	return err || !rest.n ? err : add_form(o, p, instr, instr->adaptive, &rest);
}

static int add_measured(struct opcodes *o, const struct code *code, uint32_t i)
{
	const struct instr_cost *cost = &code->function->costs[i];
	const struct instr *instr = &code->instrs[i];
	const struct process *p = code->process;
	int err;

	if (!cost->n)
		return 0;
	err = add_forms(o, p, instr, cost);
	for (uint32_t k = 0; k < cost->nfollowers && !err; k++) {
		const struct follower *next = &cost->followers[k];
		uint32_t from = opcodes_row(o, p, instr->base, next->from);
		uint32_t to = opcodes_row(o, p, next->base, next->adaptive);

		err = from == OPCODES_NONE || to == OPCODES_NONE ? -ENOMEM : add_pair(o, from, to, next->n, next->ns);
	}
	return err;
}

static uint64_t times_run(const struct function *f, const struct loop *block)
{
	return block ? block->iterations : f->calls;
}

/* The instruction that runs after i in its block, as though no forward jump were taken; or ninstrs. */
static uint32_t next_of(const struct code *code, uint32_t i, const struct loop *block, bool leaves)
{
	const struct instr *instr = &code->instrs[i];
	uint32_t next = i + 1;

	if (instr->back_edge && block && code_head(code, instr) == block->head)
		return code_index(code, instr->target);
	if (next >= code->ninstrs || leaves || body_block(code->function, code->instrs[next].offset) != block)
		return code->ninstrs;
	return next;
}

static int add_derived(struct opcodes *o, const struct code *code, uint32_t i)
{
	const struct instr *instr = &code->instrs[i];
	const struct loop *block = body_block(code->function, instr->offset);
	struct instr_cost run = { .n = times_run(code->function, block) };
	uint32_t row, to, next;

	if (!run.n)
		return 0;
	row = opcodes_row(o, code->process, instr->base, instr->adaptive);
	if (row == OPCODES_NONE)
		return -ENOMEM;
	add_cost(o, &o->rows[row], code->process, &run);
	next = next_of(code, i, block, o->rows[row].leaves);
	if (next >= code->ninstrs)
		return 0;
	to = opcodes_row(o, code->process, code->instrs[next].base, code->instrs[next].adaptive);
	return to == OPCODES_NONE ? -ENOMEM : add_pair(o, row, to, run.n, 0);
}

/* Instructions first <= offset <= last. */
static int add_range(struct opcodes *o, const struct code *code, int64_t first, int64_t last)
{
	const struct function *f = code->function;
	int err = 0;

	if (!f || o->source == OPCODES_UNKNOWN || (o->source == OPCODES_MEASURED && !f->costs))
		return 0;
	for (uint32_t i = 0; i < code->ninstrs && !err; i++) {
		if (code->instrs[i].offset < first || code->instrs[i].offset > last)
			continue;
		err = o->source == OPCODES_MEASURED ? add_measured(o, code, i) : add_derived(o, code, i);
	}
	return err;
}

int opcodes_add_function(struct opcodes *o, const struct code *code)
{
	return add_range(o, code, 0, INT64_MAX);
}

int opcodes_add_loop(struct opcodes *o, const struct loop *loop)
{
	return add_range(o, loop->code, loop->head, loop->extent.body);
}

int opcodes_add_program(struct opcodes *o, const struct profile *p)
{
	size_t n = 0;
	struct code **all = profile_functions(p, &n, RANK_TIME);
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = opcodes_add_function(o, all[i]);
	free(all);
	return err;
}

double opcode_per_call(const struct opcode_row *row)
{
	return row->timed ? (double)row->cycles / row->timed : 0;
}

uint64_t opcodes_followed(const struct opcodes *o, uint32_t from)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < o->npairs; i++)
		if (o->pairs[i].from == from)
			n += o->pairs[i].n;
	return n;
}

int opcode_compare(const struct opcode_row *a, const struct opcode_row *b)
{
	int order = strcmp(a->base, b->base);

	return order ? order : strcmp(a->specialized, b->specialized);
}

/* More comes first. */
static int more(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_rows(const void *left, const void *right, void *how)
{
	const struct opcode_row *a = left, *b = right;
	enum opcodes_order by = *(const enum opcodes_order *)how;
	int order = 0;

	if (by == OPCODES_BY_TIME)
		order = more(a->cycles, b->cycles);
	else if (by == OPCODES_BY_PER_CALL)
		order = more(opcode_per_call(a), opcode_per_call(b));
	if (!order && by != OPCODES_BY_NAME)
		order = more(a->n, b->n);
	return order ? order : opcode_compare(a, b);
}

static int compare_pairs(const void *left, const void *right, void *rows)
{
	const struct opcode_pair *a = left, *b = right;
	const struct opcode_row *r = rows;
	int order = more(a->n, b->n);

	order = order ?: opcode_compare(&r[a->from], &r[b->from]);
	return order ? order : opcode_compare(&r[a->to], &r[b->to]);
}

void opcodes_sort(struct opcodes *o, enum opcodes_order order)
{
	for (uint32_t i = 0; i < o->nrows; i++)
		o->rows[i].was = i;
	if (o->nrows) /* qsort takes no NULL, not even for nothing */
		qsort_r(o->rows, o->nrows, sizeof(*o->rows), compare_rows, &order);
	for (uint32_t i = 0; i < o->nrows; i++)
		o->rows[o->rows[i].was].is = i;
	for (uint32_t i = 0; i < o->npairs; i++) {
		o->pairs[i].from = o->rows[o->pairs[i].from].is;
		o->pairs[i].to = o->rows[o->pairs[i].to].is;
	}
	if (o->npairs)
		qsort_r(o->pairs, o->npairs, sizeof(*o->pairs), compare_pairs, o->rows);
	map_free(&o->row_of);
	map_free(&o->pair_of);
}

void opcodes_free(struct opcodes *o)
{
	map_free(&o->row_of);
	map_free(&o->pair_of);
	free(o->rows);
	free(o->pairs);
	*o = (struct opcodes){ 0 };
}
