// SPDX-License-Identifier: MIT
/*
 * The callgrind format, version 1 (Valgrind manual, "Callgrind Format Specification"): costs of each
 * place of each function, then the calls made from there. With INSTRUCTION events the position of a
 * cost is the instruction and its line, and executed instructions are a cost, too; else it is a line.
 *
 * The format knows files and functions by name, so a function's name ends in its first line; code objects that share
 * all of that, mainly those of several processes, are one function. A recursive call's time is already in the outer
 * call, so it is 0 here: the costs of all calls of a function add up to its total time.
 */
#include "sink_callgrind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/costs.h"
#include "model/profile.h"
#include "model/sink_file.h"
#include "base/text.h"

struct callgrind {
	struct sink_file file;
	struct costs costs;
};

static int callgrind_sample(struct sink *s, const struct sample *sample)
{
	int err = costs_sample(&((struct callgrind *)s)->costs, sample);

	return err ? sink_file_no_memory(s) : 0;
}

static int callgrind_enter(struct sink *s, const struct activation *a)
{
	int err = costs_enter(&((struct callgrind *)s)->costs, a);

	return err ? sink_file_no_memory(s) : 0;
}

static int callgrind_resume(struct sink *s, const struct activation *a)
{
	int err = costs_resume(&((struct callgrind *)s)->costs, a);

	return err ? sink_file_no_memory(s) : 0;
}

static int callgrind_leave(struct sink *s, const struct activation *a, enum leave_how how, uint64_t end_ns,
			   uint64_t end_cycles)
{
	int err = costs_leave(&((struct callgrind *)s)->costs, a, how, end_ns, end_cycles);

	return err ? sink_file_no_memory(s) : 0;
}

/* Everything in the order in which it is written. */
struct listing {
	const struct costs *costs;
	struct code **codes; /* by file, then first line */
	uint32_t ncodes;
	uint32_t *places;   /* by function and place */
	uint32_t *calls;    /* by the place they come from */
	struct map numbers; /* struct code -> fn, 1 at least */
	uint32_t *files;    /* [fn - 1] fl */
	uint64_t *bases;    /* [fn - 1] address of its first instruction */
};

static int by_name(const void *left, const void *right)
{
	return code_order(*(struct code *const *)left, *(struct code *const *)right);
}

static uint32_t number_of(const struct listing *l, const struct code *code)
{
	return (uintptr_t)map_get(&l->numbers, (uintptr_t)code);
}

static int by_place(const void *left, const void *right, void *listing)
{
	const struct listing *l = listing;
	const struct place *a = &l->costs->places[*(const uint32_t *)left];
	const struct place *b = &l->costs->places[*(const uint32_t *)right];
	uint32_t x = number_of(l, a->code), y = number_of(l, b->code);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int by_caller(const void *left, const void *right, void *listing)
{
	const struct listing *l = listing;
	const struct place_calls *a = &l->costs->calls[*(const uint32_t *)left];
	const struct place_calls *b = &l->costs->calls[*(const uint32_t *)right];
	int order = by_place(&a->from, &b->from, listing);

	if (order)
		return order;
	return number_of(l, a->callee) < number_of(l, b->callee) ? -1 : 1;
}

static uint32_t *count_up(uint32_t n)
{
	uint32_t *numbers = calloc(n + 1, sizeof(*numbers));

	for (uint32_t i = 0; numbers && i < n; i++)
		numbers[i] = i;
	return numbers;
}

/* Files get numbers, and functions one address range after another, as in an object file. */
static int number_codes(struct listing *l)
{
	uint64_t base = 0;

	for (uint32_t i = 0; i < l->ncodes; i++) {
		const struct code *code = l->codes[i];

		if (map_put(&l->numbers, (uintptr_t)code, (void *)(uintptr_t)(i + 1)))
			return -ENOMEM;
		l->files[i] = i ? l->files[i - 1] + !!strcmp(l->codes[i - 1]->file, code->file) : 1;
		l->bases[i] = base;
		base += 2 * (uint64_t)code->units;
	}
	return 0;
}

static int sort(struct listing *l, const struct costs *c)
{
	uint32_t n = 0;

	l->costs = c;
	l->ncodes = c->codes.used;
	l->codes = calloc(l->ncodes + 1, sizeof(*l->codes));
	l->files = calloc(l->ncodes + 1, sizeof(*l->files));
	l->bases = calloc(l->ncodes + 1, sizeof(*l->bases));
	l->places = count_up(c->nplaces);
	l->calls = count_up(c->ncalls);
	if (!l->codes || !l->files || !l->bases || !l->places || !l->calls)
		return -ENOMEM;
	for (struct map_slot *s = NULL; (s = map_next(&c->codes, s));)
		l->codes[n++] = (struct code *)(uintptr_t)s->key;
	qsort(l->codes, n, sizeof(*l->codes), by_name);
	if (number_codes(l))
		return -ENOMEM;
	qsort_r(l->places, c->nplaces, sizeof(*l->places), by_place, l);
	qsort_r(l->calls, c->ncalls, sizeof(*l->calls), by_caller, l);
	return 0;
}

static void free_listing(struct listing *l)
{
	map_free(&l->numbers);
	free(l->codes);
	free(l->files);
	free(l->bases);
	free(l->places);
	free(l->calls);
}

/* Names are written once, here, and are numbers from then on. */
static void write_names(FILE *f, const struct listing *l)
{
	for (uint32_t i = 0; i < l->ncodes; i++) {
		const struct code *code = l->codes[i];

		if (!i || l->files[i] != l->files[i - 1]) {
			fprintf(f, "fl=(%" PRIu32 ") ", l->files[i]);
			text_plain(f, code->file);
			fputc('\n', f);
		}
		fprintf(f, "fn=(%" PRIu32 ") ", i + 1);
		text_plain(f, code->qualname);
		if (!code->c)
			fprintf(f, ":%" PRId64, code->firstlineno);
		fputc('\n', f);
	}
}

static int64_t line_of(const struct place *p)
{
	uint32_t i;

	if (p->kind == PLACE_LINE)
		return p->at;
	i = p->kind == PLACE_INSTRUCTION ? code_index(p->code, p->at) : p->code->ninstrs;
	if (i < p->code->ninstrs && p->code->instrs[i].line > 0)
		return p->code->instrs[i].line;
	return p->code->firstlineno > 0 ? p->code->firstlineno : 0;
}

static void write_position(FILE *f, const struct listing *l, const struct place *p)
{
	if (l->costs->stepped)
		fprintf(f, "0x%" PRIx64 " ",
			l->bases[number_of(l, p->code) - 1] + (p->kind == PLACE_INSTRUCTION ? p->at : 0));
	fprintf(f, "%" PRId64, line_of(p));
}

static void write_costs(FILE *f, const struct listing *l, uint64_t ns, uint64_t cycles, uint64_t instructions)
{
	fprintf(f, " %" PRIu64 " %" PRIu64, ns, cycles);
	if (l->costs->stepped)
		fprintf(f, " %" PRIu64, instructions);
	fputc('\n', f);
}

static void write_call(FILE *f, const struct listing *l, const struct place_calls *c)
{
	const struct place *from = &l->costs->places[c->from];
	uint32_t callee = number_of(l, c->callee);
	const struct place entry = { .code = c->callee };

	fprintf(f, "cfi=(%" PRIu32 ")\ncfn=(%" PRIu32 ")\ncalls=%" PRIu64 " ", l->files[callee - 1], callee, c->calls);
	write_position(f, l, &entry);
	fputc('\n', f);
	write_position(f, l, from);
	write_costs(f, l, c->ns, c->cycles, c->instructions);
}

static void write_places(FILE *f, const struct listing *l)
{
	const struct costs *c = l->costs;
	uint32_t last = 0, call = 0;

	for (uint32_t i = 0; i < c->nplaces; i++) {
		const struct place *p = &c->places[l->places[i]];
		uint32_t fn = number_of(l, p->code);

		if (fn != last)
			fprintf(f, "\nfl=(%" PRIu32 ")\nfn=(%" PRIu32 ")\n", l->files[fn - 1], fn);
		last = fn;
		if (p->ns || p->cycles || p->instructions) {
			write_position(f, l, p);
			write_costs(f, l, p->ns, p->cycles, p->instructions);
		}
		for (; call < c->ncalls && c->calls[l->calls[call]].from == l->places[i]; call++)
			write_call(f, l, &c->calls[l->calls[call]]);
	}
}

static void write_head(FILE *f, const struct listing *l, const struct profile *p)
{
	const struct process *root = profile_root(p);

	fputs("# callgrind format\nversion: 1\ncreator: Ocular\n", f);
	if (root && root->argv) {
		fputs("cmd: ", f);
		text_plain(f, root->argv);
		fputc('\n', f);
	}
	fprintf(f, "desc: Time: self, tracing included; cycles of the %s clock\n", p->clock);
	fprintf(f, "positions: %s\n", l->costs->stepped ? "instr line" : "line");
	fprintf(f, "event: ns : Nanoseconds\nevent: cycles : Cycles\n");
	if (l->costs->stepped)
		fprintf(f, "event: instructions : Bytecode instructions\n");
	fprintf(f, "events: ns cycles%s\n", l->costs->stepped ? " instructions" : "");
}

static void write_totals(FILE *f, const struct listing *l, const char *key)
{
	struct place all = { 0 };

	for (uint32_t i = 0; i < l->costs->nplaces; i++) {
		all.ns += l->costs->places[i].ns;
		all.cycles += l->costs->places[i].cycles;
		all.instructions += l->costs->places[i].instructions;
	}
	fputs(key, f);
	write_costs(f, l, all.ns, all.cycles, all.instructions);
}

static int render(FILE *f, struct sink *s, const struct profile *p)
{
	struct listing l = { 0 };
	int err = sort(&l, &((struct callgrind *)s)->costs);

	if (!err) {
		write_head(f, &l, p);
		write_totals(f, &l, "summary:");
		fputc('\n', f);
		write_names(f, &l);
		write_places(f, &l);
		write_totals(f, &l, "\ntotals:");
	}
	free_listing(&l);
	return err;
}

static int callgrind_part(struct sink **out, struct sink *of)
{
	return sink_file_part(out, sizeof(struct callgrind), of);
}

static int callgrind_join(struct sink *to, struct sink *part)
{
	return costs_join(&((struct callgrind *)to)->costs, &((struct callgrind *)part)->costs);
}

static void callgrind_free(struct sink *s)
{
	costs_free(&((struct callgrind *)s)->costs);
	sink_file_free(s);
}

static const struct sink_ops callgrind_ops = {
	.sample = callgrind_sample,
	.enter = callgrind_enter,
	.resume = callgrind_resume,
	.leave = callgrind_leave,
	.part = callgrind_part,
	.join = callgrind_join,
	.finish = sink_file_finish,
	.render = render,
	.free = callgrind_free,
};

int sink_callgrind_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct callgrind), &callgrind_ops, o, error);
}
