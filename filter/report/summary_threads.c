// SPDX-License-Identifier: MIT
/* Processes, their threads, and what those waited for. */
#include "summary_objects.h"

#include <stdlib.h>

#include "base/json.h"
#include "summary_parts.h"

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
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o*, s:o*}",
			 "pid", p->pid,
			 "argv", json_text(p->argv),
			 "python", json_text(p->python),
			 "mode", json_text(p->mode),
			 "backend", json_text(p->backend),
			 "stopped", p->stopped,
			 "untraced", json_text(p->untraced),
			 "callback_cycles", callbacks(p),
			 "callback_cycles_most", callbacks_most(p),
			 "greenlets_told", p->greenlets_untold ? json_false() : NULL);
}
/* clang-format on */

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

static json_t *thread(const struct profile *p, const struct thread_total *t)
{
	struct process *process = map_get(&p->codes->processes, (uint32_t)t->pid);
	const char *name = process ? map_get(&process->threads, (uint32_t)t->tid) : NULL;
	const struct json_number numbers[] = { { "pid", t->pid }, { "tid", t->tid }, { "wall_ns", t->wall_ns } };
	json_t *cpu = json_pack("{s:o, s:o, s:o}", "name", json_text(name), "cpu_ns",
				summary_number_or_null(t->cpu_known || t->used_ns, t->used_ns), "waiting_ns",
				summary_number_or_null(t->cpu_known, t->off.waiting_ns));

	return json_join(json_join(JSON_NUMBERS(numbers), cpu),
			 json_pack("{s:o, s:o}", "gil_ns", summary_number_or_null(process && process->waits, t->gil_ns),
				   "gil_held_ns", summary_number_or_null(process && process->waits, t->gil_held_ns)));
}

json_t *summary_threads(const struct profile *p)
{
	json_t *array = json_array();

	for (uint64_t i = 0; i < p->threads; i++)
		array = json_append(array, thread(p, &p->thread_totals[i]));
	return array;
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

json_t *summary_lock(const struct lock *l)
{
	const struct json_number numbers[] = {
		{ "line", l->line },	{ "pid", l->code->process->pid },	{ "count", l->waited.n },
		{ "ns", l->waited.ns }, { "longest_ns", l->waited.longest_ns },
	};

	return json_join(summary_place(l->code), JSON_NUMBERS(numbers));
}

json_t *summary_greenlet(const struct greenlet_total *g)
{
	const struct json_number numbers[] = {
		{ "pid", g->pid },
		{ "tid", g->tid },
		{ "number", g->number },
		{ "count", g->count },
		{ "running_ns", g->running_ns },
		{ "switches", g->switches },
	};

	return json_join(json_pack("{s:o, s:o}", "function", json_text(g->function ? g->function->qualname : NULL),
				   "file", json_text(g->function ? g->function->file : NULL)),
			 JSON_NUMBERS(numbers));
}
