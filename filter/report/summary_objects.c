// SPDX-License-Identifier: MIT
/* jansson's packing returns NULL if a part is NULL, so memory is checked once. */
#include "summary_objects.h"

#include <stdlib.h>
#include <string.h>

#include "model/body.h"
#include "base/json.h"
#include "model/losses.h"
#include "code/copies.h"
#include "code/origin.h"
#include "code/specialization.h"
#include "summary_opcodes.h"
#include "summary_paths.h"

static json_t *place(const struct code *code)
{
	return json_pack("{s:o, s:o}", "file", json_text(code->file), "qualname", json_text(code->qualname));
}

static json_t *events(const uint64_t counts[OP_COUNT])
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op])
			json_object_set_new(o, sample_op_name(op), json_integer(counts[op]));
	return o;
}

/* Per second of traced time. */
static json_t *event_rates(const struct profile *p, const uint64_t counts[OP_COUNT])
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (counts[op] && p->traced_ns)
			json_object_set_new(o, sample_op_name(op), json_real(counts[op] * 1e9 / p->traced_ns));
	return o;
}

static json_t *number_or_null(bool known, uint64_t n)
{
	return known ? json_integer(n) : json_null();
}

static json_t *threads_of(const struct process *p, uint32_t copy)
{
	json_t *tids = json_array();

	for (uint32_t i = 0; i < p->ncopiers; i++)
		if (p->copiers[i].copy == copy)
			json_array_append_new(tids, json_integer(p->copiers[i].tid));
	return tids;
}

static json_t *copies(const struct code *code)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		const struct copy *copy = &code->copies[i];
		struct copy_state s = copies_state(code, copy);

		json_array_append_new(list, json_pack("{s:i, s:o, s:i, s:i}", "copy", (int)copy->number, "threads",
						      threads_of(code->process, copy->number), "specialized",
						      (int)s.specialized, "base", (int)s.base));
	}
	return list;
}

/* How many copies have each of the instruction's forms. */
static json_t *forms(const struct code *code, uint32_t at)
{
	json_t *counts = json_object();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		uint8_t form = code->copies[i].forms[at];

		json_object_set_new(counts, process_opname(code->process, form),
				    json_integer(copies_having(code, at, form)));
	}
	return counts;
}

static json_t *differing(const struct code *code)
{
	json_t *list = json_array();

	for (uint32_t i = 0; (i = copies_differ(code, i)) < code->ninstrs; i++)
		json_array_append_new(list, json_pack("{s:i, s:i, s:s, s:o}", "offset", (int)code->instrs[i].offset,
						      "line", (int)code->instrs[i].line, "opcode",
						      process_opname(code->process, code->instrs[i].base), "forms",
						      forms(code, i)));
	return list;
}

/* clang-format off */
static json_t *specialization(const struct code *code)
{
	struct specialization s = specialization_of(code);
	json_t *o;

	o = json_pack("{s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o}",
			 "instructions", (int)s.instructions,
			 "able", number_or_null(code->process->ables, s.able),
			 "at_start", (int)s.first,
			 "specialized", number_or_null(s.known, s.specialized),
			 "base", number_or_null(s.known && code->process->ables, s.base),
			 "gained", number_or_null(s.known, s.gained),
			 "lost", number_or_null(s.known, s.lost),
			 "changed", number_or_null(s.known, s.changed));
	if (code->ncopies) {
		json_object_set_new(o, "copies", copies(code));
		json_object_set_new(o, "differing", differing(code));
	}
	return o;
}
/* clang-format on */

/* CPU and waiting time of a whole; null where threads did not say when they were on a CPU. */
static json_t *cpu_times(bool known, const char *prefix, uint64_t ns, struct off off)
{
	char cpu[32], waiting[32];
	const struct json_number rows[] = { { cpu, ns - off.ns }, { waiting, off.waiting_ns } };

	snprintf(cpu, sizeof(cpu), "%scpu_ns", prefix);
	snprintf(waiting, sizeof(waiting), "%swaiting_ns", prefix);
	if (known)
		return JSON_NUMBERS(rows);
	return json_pack("{s:n, s:n}", cpu, waiting);
}

static json_t *own_and_total(bool known, uint64_t own_ns, struct off own, uint64_t ns, struct off off)
{
	return json_join(cpu_times(known, "self_", own_ns, own), cpu_times(known, "total_", ns, off));
}

static json_t *function(const struct code *code)
{
	const struct function *f = code->function;
	const struct json_number totals[] = {
		{ "firstlineno", code->firstlineno },
		{ "calls", f->calls },
		{ "recursive_calls", f->recursive_calls },
		{ "total_ns", f->total_ns },
		{ "self_ns", f->self_ns },
		{ "total_cycles", f->total_cycles },
		{ "self_cycles", f->self_cycles },
		{ "resumes", f->resumes },
		{ "activations", f->self_spread.n },
		{ "unfinished", f->unfinished },
		{ "pid", code->process->pid },
	};

	return json_join(json_join(json_join(place(code), JSON_NUMBERS(totals)),
				   own_and_total(!f->cpu_unknown, f->self_ns, f->self_off, f->total_ns, f->total_off)),
			 json_pack("{s:f, s:o, s:o}", "self_cycles_deviation", spread_deviation(&f->self_spread),
				   "events", events(f->events), "specialization", specialization(code)));
}

/* Forks run code that is in their parent's table. */
static json_t *pids(const struct code *code)
{
	const struct pids *p = &code->function->pids;
	json_t *array = json_array();

	for (uint32_t i = 0; i < p->n; i++)
		array = json_append(array, json_integer(p->all[i]));
	return json_pack("{s:o}", "pids", array);
}

static json_t *origin(const struct profile *p, const struct code *code)
{
	return json_pack("{s:s}", "origin", origin_key(origin_of(p->codes, code)));
}

json_t *summary_function(const struct profile *p, const struct code *code, bool tables)
{
	uint64_t lookups = function_lookup_ns(code);
	json_t *o = json_join(function(code),
			      json_pack("{s:o, s:o}", "event_rates", event_rates(p, code->function->events),
					"gil_held_ns",
					number_or_null(code->process->waits, code->function->gil_held_ns)));

	o = json_join(json_join(o, origin(p, code)), pids(code));
	if (lookups)
		o = json_join(o, json_pack("{s:I}", "line_lookup_ns", (json_int_t)lookups));
	if (!tables)
		return o;
	return json_join(o, json_pack("{s:o}", "opcodes", summary_function_opcodes(p, code)));
}

/* As pstats prints it: in braces where it is in angle brackets. */
static json_t *c_name(const struct code *code)
{
	size_t n = strlen(code_name(code));
	json_t *text;
	char *name;

	if (!code->name || *code->name != '<' || code->name[n - 1] != '>')
		return json_text(code_name(code));
	if (asprintf(&name, "{%.*s}", (int)n - 2, code->name + 1) < 0)
		return NULL;
	text = json_text(name);
	free(name);
	return text;
}

json_t *summary_c_function(const struct profile *p, const struct code *code, bool tables)
{
	const struct function *f = code->function;
	const struct json_number totals[] = {
		{ "calls", f->calls },
		{ "recursive_calls", f->recursive_calls },
		{ "total_ns", f->total_ns },
		{ "self_ns", f->self_ns },
		{ "total_cycles", f->total_cycles },
		{ "self_cycles", f->self_cycles },
		{ "activations", f->self_spread.n },
		{ "unfinished", f->unfinished },
		{ "pid", code->process->pid },
	};

	(void)p, (void)tables;
	return json_join(json_pack("{s:o, s:o, s:f}", "name", c_name(code), "qualname", json_text(code->qualname),
				   "self_cycles_deviation", spread_deviation(&f->self_spread)),
			 json_join(JSON_NUMBERS(totals),
				   own_and_total(!f->cpu_unknown, f->self_ns, f->self_off, f->total_ns, f->total_off)));
}

static json_t *distribution(const struct stat_sum *s)
{
	const struct json_number rest[] = {
		{ "median", stat_quantile(s, 0.5) },
		{ "p99", stat_quantile(s, 0.99) },
		{ "min", s->min },
		{ "max", s->max },
	};

	return json_join(json_pack("{s:f, s:f, s:b}", "mean", stat_mean(s), "deviation", spread_deviation(&s->spread),
				   "exact", stat_exact(s)),
			 JSON_NUMBERS(rest));
}

/* [[LOW, HIGH, N], ...] */
static json_t *ranges(const struct stat_sum *s)
{
	json_t *array = json_array();
	struct stat_range r;

	for (unsigned at = 0; (at = stat_next(s, at, &r));)
		array = json_append(array,
				    json_pack("[I, I, I]", (json_int_t)r.low, (json_int_t)r.high, (json_int_t)r.n));
	return array;
}

static json_t *trips(const struct loop *loop)
{
	return json_join(
		json_pack("{s:I, s:o}", "entries", (json_int_t)loop->trips.n, "distribution", ranges(&loop->trips)),
		distribution(&loop->trips));
}

/* clang-format off */
static json_t *instruction(const struct process *p, const struct body_row *row)
{
	const struct json_number where[] = {
		{ "offset", row->instr->offset },
		{ "line", row->instr->line > 0 ? row->instr->line : 0 },
	};
	json_t *what = json_pack("{s:o, s:o, s:o, s:b}",
				 "opcode", json_text(process_opname(p, row->instr->base)),
				 "specialized", json_text(process_opname(p, row->instr->adaptive)),
				 "cycles", row->known ? json_real(row->cycles) : json_null(),
				 "measured", row->measured);

	what = json_join(what, json_pack("{s:o}", "block",
					 number_or_null(row->block, row->block ? row->block->head : 0)));
	return json_join(JSON_NUMBERS(where), what);
}
/* clang-format on */

static json_t *instructions(const struct loop *loop)
{
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_rows(loop, rows, loop->code->ninstrs) : 0;
	json_t *array = rows ? json_array() : NULL;

	for (size_t i = 0; i < n; i++)
		array = json_append(array, instruction(loop->code->process, &rows[i]));
	free(rows);
	return array;
}

/* clang-format off */
static json_t *loop_object(const struct profile *p, const struct loop *loop)
{
	uint64_t timed = loop->cycles.n;
	const struct json_number counts[] = {
		{ "head_offset", loop->head },
		{ "firstlineno", loop->code->firstlineno },
		{ "pid", loop->code->process->pid },
		{ "line", loop->line },
		{ "entries", loop->entries },
		{ "iterations", loop->iterations },
		{ "timed", timed },
	};
	json_t *rest = json_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o}",
				 "cycles", distribution(&loop->cycles),
				 "block_cycles", timed ? json_real(body_block_cycles(loop)) : json_null(),
				 "trips", trips(loop),
				 "paths", summary_paths(p, loop),
				 "share", profile_share(p, loop),
				 "own_share", profile_own_share(p, loop),
				 "uops", timed ? (double)loop->uops / timed : 0.0,
				 "instructions", instructions(loop));

	rest = json_join(own_and_total(!loop->code->function->cpu_unknown, loop->own_time, loop->own_off, loop->time,
				       loop->off),
			 rest);
	return json_join(json_join(place(loop->code), JSON_NUMBERS(counts)), rest);
}
/* clang-format on */

json_t *summary_loop(const struct profile *p, const struct loop *loop, bool tables)
{
	json_t *o = json_join(loop_object(p, loop), origin(p, loop->code));

	if (!tables)
		return o;
	return json_join(o, json_pack("{s:o}", "opcodes", summary_loop_opcodes(p, loop)));
}

static json_t *callbacks(const struct process *p)
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (p->callbacks[op].most)
			json_object_set_new(o, sample_op_name(op), json_integer(p->callbacks[op].least));
	return o;
}

/* NULL where these are the least, too. */
static json_t *callbacks_most(const struct process *p)
{
	json_t *o = NULL;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++) {
		if (p->callbacks[op].most == p->callbacks[op].least)
			continue;
		o = o ? o : json_object();
		json_object_set_new(o, sample_op_name(op), json_integer(p->callbacks[op].most));
	}
	return o;
}

/* clang-format off */
static json_t *process(const struct process *p)
{
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o*}",
			 "pid", p->pid,
			 "argv", json_text(p->argv),
			 "python", json_text(p->python),
			 "mode", json_text(p->mode),
			 "backend", json_text(p->backend),
			 "stopped", p->stopped,
			 "untraced", json_text(p->untraced),
			 "callback_cycles", callbacks(p),
			 "callback_cycles_most", callbacks_most(p));
}
/* clang-format on */

static json_t *compiled(const struct compiled_row *row)
{
	const struct json_number numbers[] = {
		{ "firstlineno", row->code->firstlineno },
		{ "pid", row->code->process->pid },
		{ "line", row->line },
		{ "count", row->n },
		{ "ns", row->ns },
	};

	return json_join(place(row->code), JSON_NUMBERS(numbers));
}

json_t *summary_compiled(const struct profile *p)
{
	size_t n = 0;
	struct compiled_row *rows = p->zoomed ? NULL : compiled_rows(p->codes, &n);
	json_t *array = n ? json_array() : rows || p->zoomed ? json_null() : NULL;

	for (size_t i = 0; i < n; i++)
		array = json_append(array, compiled(&rows[i]));
	free(rows);
	return array;
}

json_t *summary_processes(const struct profile *p)
{
	size_t n;
	const struct process **all = profile_processes(p, &n);
	json_t *array = all ? json_array() : NULL;

	for (size_t i = 0; i < n; i++)
		array = json_append(array, process(all[i]));
	free(all);
	return array;
}

json_t *summary_losses(const struct profile *p)
{
	struct loss rows[LOSSES];
	json_t *o = json_object();

	losses_of(p, rows);
	for (int i = 0; i < LOSSES; i++)
		if (i < LOSSES_ALWAYS || rows[i].count)
			json_object_set_new(o, rows[i].key, json_integer(rows[i].count));
	if (profile_skipped(p))
		json_object_set_new(o, "skipped", json_integer(profile_skipped(p)));
	return o;
}

json_t *summary_unmatched(const struct profile *p)
{
	json_t *array = json_array();

	for (const struct unmatched *u = NULL; (u = codes_unmatched(p->codes, u));) {
		json_t *nearest = json_array();

		for (char **name = u->nearest; name && *name; name++)
			json_array_append_new(nearest, json_text(*name));
		json_array_append_new(array, json_pack("{s:o, s:o, s:o}", "option", json_text(u->option), "pattern",
						       json_text(u->pattern), "nearest", nearest));
	}
	return array;
}

json_t *summary_clock(const struct profile *p)
{
	json_t *o = json_pack("{s:s, s:I}", "cycles", p->clock, "hz", (json_int_t)p->clock_hz);

	if (o && p->cycles_apart)
		json_object_set_new(o, "apart", json_integer(p->cycles_apart));
	if (o && p->shared_cycles)
		json_object_set_new(o, "shared", json_integer(p->shared_cycles));
	return o;
}

json_t *summary_trace(const struct profile *p)
{
	const struct json_number rows[] = {
		{ "start_ns", p->start_ns },	 { "end_ns", p->end_ns },
		{ "traced_ns", p->traced_ns },	 { "traced_cycles", p->traced_cycles },
		{ "threads", p->threads },	 { "processes", p->processes },
		{ "outside_ns", p->outside_ns }, { "outside_cycles", p->outside_cycles },
	};

	json_t *cpu = json_pack("{s:o, s:o}", "cpu_ns", number_or_null(!p->untold, p->cpu_ns), "waiting_ns",
				number_or_null(!p->unseen, p->traced_off.waiting_ns));

	return json_join(JSON_NUMBERS(rows),
			 json_join(cpu, cpu_times(!p->unseen, "outside_", p->outside_ns, p->outside_off)));
}

static json_t *thread(const struct profile *p, const struct thread_total *t)
{
	struct process *process = map_get(&p->codes->processes, (uint32_t)t->pid);
	const char *name = process ? map_get(&process->threads, (uint32_t)t->tid) : NULL;
	const struct json_number numbers[] = { { "pid", t->pid }, { "tid", t->tid }, { "wall_ns", t->wall_ns } };
	json_t *cpu = json_pack("{s:o, s:o, s:o}", "name", json_text(name), "cpu_ns",
				number_or_null(t->cpu_known || t->used_ns, t->used_ns), "waiting_ns",
				number_or_null(t->cpu_known, t->off.waiting_ns));

	return json_join(json_join(JSON_NUMBERS(numbers), cpu),
			 json_pack("{s:o, s:o}", "gil_ns", number_or_null(process && process->waits, t->gil_ns),
				   "gil_held_ns", number_or_null(process && process->waits, t->gil_held_ns)));
}

json_t *summary_wait(const struct code *code, enum wait_kind kind, const struct wait_total *total)
{
	const struct json_number numbers[] = {
		{ "line", code ? code->firstlineno : 0 },
		{ "pid", code ? code->process->pid : 0 },
		{ "count", total->n },
		{ "ns", total->ns },
		{ "longest_ns", total->longest_ns },
	};

	return json_join(json_pack("{s:s, s:o, s:o}", "kind", wait_name(kind), "file",
				   json_text(code ? code->file : NULL), "qualname",
				   json_text(code ? code->qualname : NULL)),
			 JSON_NUMBERS(numbers));
}

json_t *summary_threads(const struct profile *p)
{
	json_t *array = json_array();

	for (uint64_t i = 0; i < p->threads; i++)
		array = json_append(array, thread(p, &p->thread_totals[i]));
	return array;
}

json_t *summary_duty(const struct profile *p)
{
	const struct json_number rows[] = {
		{ "windows", p->duty.windows },	    { "window_ns", p->duty.window_ns },
		{ "period_ns", p->duty.period_ns }, { "traced_ns", p->duty.traced_ns },
		{ "lived_ns", p->duty.lived_ns },
	};
	double lived = p->duty.lived_ns;

	if (!p->duty.period_ns)
		return json_null();
	return json_join(JSON_NUMBERS(rows), json_pack("{s:f}", "share", lived > 0 ? p->duty.traced_ns / lived : 0.0));
}

static json_t *stack(char **places)
{
	json_t *array = json_array();

	for (; places && *places; places++)
		json_array_append_new(array, json_text(*places));
	return array;
}

/* clang-format off */
static json_t *snapshot(const struct snapshot *s)
{
	const struct json_number rows[] = {
		{ "number", s->number }, { "from_ns", s->from_ns }, { "at_ns", s->at_ns },
		{ "pid", s->pid },	 { "tid", s->tid },
		{ "threads", s->threads }, { "cut", s->cut },
	};
	json_t *data = s->data ? json_loads(s->data, 0, NULL) : NULL;

	return json_join(JSON_NUMBERS(rows),
			 json_pack("{s:o, s:o, s:o, s:o}",
				   "trigger", json_text(s->trigger),
				   "label", json_text(s->label),
				   "data", data ? data : json_object(),
				   "stack", stack(s->stack)));
}
/* clang-format on */

/* The trigger of a flight recorder's snapshot. */
json_t *summary_snapshots(const struct profile *p)
{
	json_t *array = json_array();

	for (size_t i = 0; i < p->codes->nsnapshots; i++)
		array = json_append(array, snapshot(&p->codes->snapshots[i]));
	return array;
}

json_t *summary_events(const struct profile *p)
{
	return events(p->events);
}

json_t *summary_event_rates(const struct profile *p)
{
	return event_rates(p, p->events);
}

json_t *summary_collection(const struct profile *p, unsigned generation)
{
	const struct collection_total *c = &p->collections.of[generation];
	struct collections_own own[GENERATIONS];
	const struct json_number numbers[] = {
		{ "generation", generation },  { "count", c->n }, { "ns", c->ns }, { "longest_ns", c->longest_ns },
		{ "collected", c->collected },
	};
	json_t *self;

	profile_collections(p, own);
	self = json_pack("{s:I, s:I}", "self_ns", (json_int_t)own[generation].ns, "self_cycles",
			 (json_int_t)own[generation].cycles);
	return json_join(JSON_NUMBERS(numbers),
			 json_join(self, cpu_times(!p->unseen, "self_", own[generation].ns, own[generation].off)));
}

json_t *summary_import(const struct import *i)
{
	uint64_t ns;
	const struct code *most = import_most(i, &ns);
	const struct json_number of_most[] = { { "line", most ? most->firstlineno : 0 }, { "ns", ns } };
	const struct json_number numbers[] = {
		{ "depth", i->depth },	     { "count", i->n },		{ "failed", i->failed },
		{ "total_ns", i->total_ns }, { "self_ns", i->self_ns },
	};
	json_t *place = most ? json_pack("{s:o, s:o}", "file", json_text(most->file), "qualname",
					 json_text(most->qualname))
			     : json_null();

	place = most ? json_join(place, JSON_NUMBERS(of_most)) : place;
	return json_join(json_pack("{s:o, s:o, s:o}", "name", json_text(i->name), "file",
				   json_text(i->module ? i->module->file : NULL), "most", place),
			 JSON_NUMBERS(numbers));
}

static json_t *handler(const struct handler *h)
{
	const struct json_number numbers[] = { { "line", h ? h->line : 0 }, { "count", h ? h->n : 0 } };

	return h ? json_join(place(h->code), JSON_NUMBERS(numbers)) : json_null();
}

json_t *summary_exception(const struct raised *r)
{
	uint32_t handlers = 0;

	for (uint32_t i = 0; i < r->nhandlers; i++)
		handlers += r->handlers[i].n > 0;

	const struct json_number numbers[] = {
		{ "line", r->line },	   { "pid", r->code->process->pid },  { "count", r->n },
		{ "handled", r->handled }, { "dropped", r->dropped },	      { "left", r->left },
		{ "frames", r->frames },   { "most_frames", r->frames_most }, { "handlers", handlers },
	};

	return json_join(
		json_pack("{s:o}", "type", json_text(r->type ? r->type->qualname : NULL)),
		json_join(place(r->code),
			  json_join(JSON_NUMBERS(numbers), json_pack("{s:o}", "handler", handler(raised_handler(r))))));
}

json_t *summary_lock(const struct lock *l)
{
	const struct json_number numbers[] = {
		{ "line", l->line },	{ "pid", l->code->process->pid },	{ "count", l->waited.n },
		{ "ns", l->waited.ns }, { "longest_ns", l->waited.longest_ns },
	};

	return json_join(place(l->code), JSON_NUMBERS(numbers));
}

json_t *summary_span(const struct span_total *t)
{
	const struct json_number numbers[] = {
		{ "count", t->n },
		{ "total_ns", t->ns },
		{ "longest_ns", t->longest_ns },
		{ "unfinished", t->unfinished },
	};

	return json_join(json_pack("{s:o}", "name", json_text(t->name->qualname)), JSON_NUMBERS(numbers));
}
