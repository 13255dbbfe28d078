// SPDX-License-Identifier: MIT
/* Processes, their threads, and what those waited for. */
#include "summary_objects.h"

#include <stdlib.h>

#include "base/value.h"
#include "summary_parts.h"

static struct value *callbacks(const struct process *p)
{
	struct value *o = value_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (p->callbacks[op].most)
			o = value_set(o, sample_op_name(op), value_integer(p->callbacks[op].least));
	return o;
}

/* NULL where these are the least, too. */
static struct value *callbacks_most(const struct process *p)
{
	struct value *o = NULL;

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++) {
		if (p->callbacks[op].most == p->callbacks[op].least)
			continue;
		o = o ? o : value_object();
		o = value_set(o, sample_op_name(op), value_integer(p->callbacks[op].most));
	}
	return o;
}

/* clang-format off */
static struct value *process(const struct process *p)
{
	return value_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o*, s:o*}",
			 "pid", p->pid,
			 "argv", value_text(p->argv),
			 "python", value_text(p->python),
			 "mode", value_text(p->mode),
			 "backend", value_text(p->backend),
			 "stopped", p->stopped,
			 "untraced", value_text(p->untraced),
			 "callback_cycles", callbacks(p),
			 "callback_cycles_most", callbacks_most(p),
			 "greenlets_told", p->greenlets_untold ? value_bool(false) : NULL);
}
/* clang-format on */

struct value *summary_processes(const struct profile *p)
{
	size_t n;
	const struct process **all = profile_processes(p, &n);
	struct value *array = all ? value_array() : NULL;

	for (size_t i = 0; i < n; i++)
		array = value_append(array, process(all[i]));
	free(all);
	return array;
}

static struct value *thread(const struct profile *p, const struct thread_total *t)
{
	struct process *process = map_get(&p->codes->processes, (uint32_t)t->pid);
	const char *name = process ? map_get(&process->threads, (uint32_t)t->tid) : NULL;
	const struct value_number numbers[] = { { "pid", t->pid }, { "tid", t->tid }, { "wall_ns", t->wall_ns } };
	struct value *cpu = value_pack("{s:o, s:o, s:o}", "name", value_text(name), "cpu_ns",
				       summary_number_or_null(t->cpu_known || t->used_ns, t->used_ns), "waiting_ns",
				       summary_number_or_null(t->cpu_known, t->off.waiting_ns));

	return value_join(value_join(VALUE_NUMBERS(numbers), cpu),
			  value_pack("{s:o, s:o}", "gil_ns",
				     summary_number_or_null(process && process->waits, t->gil_ns), "gil_held_ns",
				     summary_number_or_null(process && process->waits, t->gil_held_ns)));
}

struct value *summary_threads(const struct profile *p)
{
	struct value *array = value_array();

	for (uint64_t i = 0; i < p->threads; i++)
		array = value_append(array, thread(p, &p->thread_totals[i]));
	return array;
}

struct value *summary_wait(const struct code *code, enum wait_kind kind, const struct wait_total *total)
{
	const struct value_number numbers[] = {
		{ "line", code ? code->firstlineno : 0 },
		{ "pid", code ? code->process->pid : 0 },
		{ "count", total->n },
		{ "ns", total->ns },
		{ "longest_ns", total->longest_ns },
	};

	return value_join(value_pack("{s:s, s:o, s:o}", "kind", wait_name(kind), "file",
				     value_text(code ? code->file : NULL), "qualname",
				     value_text(code ? code->qualname : NULL)),
			  VALUE_NUMBERS(numbers));
}

struct value *summary_lock(const struct lock *l)
{
	const struct value_number numbers[] = {
		{ "line", l->line },	{ "pid", l->code->process->pid },	{ "count", l->waited.n },
		{ "ns", l->waited.ns }, { "longest_ns", l->waited.longest_ns },
	};

	return value_join(summary_place(l->code), VALUE_NUMBERS(numbers));
}

struct value *summary_greenlet(const struct greenlet_total *g)
{
	const struct value_number numbers[] = {
		{ "pid", g->pid },
		{ "tid", g->tid },
		{ "number", g->number },
		{ "count", g->count },
		{ "running_ns", g->running_ns },
		{ "switches", g->switches },
	};

	return value_join(value_pack("{s:o, s:o}", "function", value_text(g->function ? g->function->qualname : NULL),
				     "file", value_text(g->function ? g->function->file : NULL)),
			  VALUE_NUMBERS(numbers));
}
