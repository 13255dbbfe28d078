// SPDX-License-Identifier: MIT
/* Loops, their instructions, and those that CPython's JIT compiled. */
#include "summary_objects.h"

#include <stdlib.h>

#include "base/json.h"
#include "model/body.h"
#include "summary_opcodes.h"
#include "summary_parts.h"
#include "summary_paths.h"

/* `sure`: each single value is. */
static json_t *distribution(const struct stat_sum *s, bool sure)
{
	const struct json_number rest[] = {
		{ "median", stat_quantile(s, 0.5) },
		{ "p99", stat_quantile(s, 0.99) },
		{ "min", s->min },
		{ "max", s->max },
	};

	return json_join(json_pack("{s:f, s:f, s:b}", "mean", stat_mean(s), "deviation", spread_deviation(&s->spread),
				   "exact", sure && stat_exact(s)),
			 JSON_NUMBERS(rest));
}

json_t *summary_ranges(const struct stat_sum *s)
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
	return json_join(json_pack("{s:I, s:o}", "entries", (json_int_t)loop->trips.n, "distribution",
				   summary_ranges(&loop->trips)),
			 distribution(&loop->trips, true));
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
				 "measured", row->measured && !p->coarse);

	what = json_join(what, json_pack("{s:o}", "block",
					 summary_number_or_null(row->block, row->block ? row->block->head : 0)));
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
				 "cycles", distribution(&loop->cycles, !loop->code->process->coarse),
				 "block_cycles", timed ? json_real(body_block_cycles(loop)) : json_null(),
				 "trips", trips(loop),
				 "paths", summary_paths(p, loop),
				 "share", profile_share(p, loop),
				 "own_share", profile_own_share(p, loop),
				 "uops", timed ? (double)loop->uops / timed : 0.0,
				 "instructions", instructions(loop));

	if (loop->code->function->objects || loop->suspended_ns)
		rest = json_join(rest, json_pack("{s:I}", "suspended_ns", (json_int_t)loop->suspended_ns));
	rest = json_join(summary_own_and_total(!loop->code->function->cpu_unknown,
					       loop->own_time, loop->own_off, loop->time, loop->off),
			 rest);
	return json_join(json_join(summary_place(loop->code), JSON_NUMBERS(counts)), rest);
}
/* clang-format on */

json_t *summary_loop(const struct profile *p, const struct loop *loop, bool tables)
{
	json_t *o = json_join(loop_object(p, loop), summary_origin(p, loop->code));

	if (!tables)
		return o;
	return json_join(o, json_pack("{s:o}", "opcodes", summary_loop_opcodes(p, loop)));
}

static json_t *compiled(const struct compiled_row *row)
{
	const struct json_number numbers[] = {
		{ "firstlineno", row->code->firstlineno },
		{ "pid", row->code->process->pid },
		{ "line", row->line },
		{ "count", row->n },
		{ "ns", row->ns },
	};

	return json_join(summary_place(row->code), JSON_NUMBERS(numbers));
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
