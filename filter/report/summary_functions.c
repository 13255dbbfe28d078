// SPDX-License-Identifier: MIT
/* Functions: written in Python, and in C. */
#include "summary_objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "summary_opcodes.h"
#include "summary_parts.h"

static struct value *function(const struct code *code)
{
	const struct function *f = code->function;
	const struct value_number totals[] = {
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

	return value_join(
		value_join(value_join(summary_place(code), VALUE_NUMBERS(totals)),
			   summary_own_and_total(!f->cpu_unknown, f->self_ns, f->self_off, f->total_ns, f->total_off)),
		value_pack("{s:f, s:o, s:o}", "self_cycles_deviation", spread_deviation(&f->self_spread), "events",
			   summary_counts(f->events), "specialization", summary_specialization(code)));
}

/* Forks run code that is in their parent's table. */
static struct value *pids(const struct code *code)
{
	const struct pids *p = &code->function->pids;
	struct value *array = value_array();

	for (uint32_t i = 0; i < p->n; i++)
		array = value_append(array, value_integer(p->all[i]));
	return value_pack("{s:o}", "pids", array);
}

/* Of generators and coroutines. */
static struct value *of_objects(const struct function *f)
{
	const struct value_number rows[] = {
		{ "objects", f->objects },
		{ "older_objects", f->older_objects },
		{ "resumptions", f->resumes },
		{ "suspended_ns", f->suspended_ns },
		{ "ended_objects", f->ended_objects },
		{ "lifetime_ns", f->lifetime_ns },
	};

	return VALUE_NUMBERS(rows);
}

struct value *summary_function(const struct profile *p, const struct code *code, bool tables)
{
	uint64_t lookups = function_lookup_ns(code);
	struct value *o = value_join(
		function(code),
		value_pack("{s:o, s:o}", "event_rates", summary_rates(p, code->function->events), "gil_held_ns",
			   summary_number_or_null(code->process->waits, code->function->gil_held_ns)));

	o = value_join(value_join(o, summary_origin(p, code)), pids(code));
	if (code->function->objects)
		o = value_join(o, of_objects(code->function));
	else if (code->function->suspended_ns)
		o = value_join(o, value_pack("{s:I}", "suspended_ns", (int64_t)code->function->suspended_ns));
	if (lookups)
		o = value_join(o, value_pack("{s:I}", "line_lookup_ns", (int64_t)lookups));
	if (!tables)
		return o;
	return value_join(o, value_pack("{s:o}", "opcodes", summary_function_opcodes(p, code)));
}

/* As pstats prints it: in braces where it is in angle brackets. */
static struct value *c_name(const struct code *code)
{
	size_t n = strlen(code_name(code));
	struct value *text;
	char *name;

	if (!code->name || *code->name != '<' || code->name[n - 1] != '>')
		return value_text(code_name(code));
	if (asprintf(&name, "{%.*s}", (int)n - 2, code->name + 1) < 0)
		return NULL;
	text = value_text(name);
	free(name);
	return text;
}

struct value *summary_c_function(const struct code *code)
{
	const struct function *f = code->function;
	const struct value_number totals[] = {
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

	return value_join(
		value_pack("{s:o, s:o, s:f}", "name", c_name(code), "qualname", value_text(code->qualname),
			   "self_cycles_deviation", spread_deviation(&f->self_spread)),
		value_join(VALUE_NUMBERS(totals),
			   summary_own_and_total(!f->cpu_unknown, f->self_ns, f->self_off, f->total_ns, f->total_off)));
}
