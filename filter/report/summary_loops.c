// SPDX-License-Identifier: MIT
/* Loops, their instructions, and those that CPython's JIT compiled. */
#include "summary_objects.h"

#include <stdlib.h>

#include "base/value.h"
#include "model/body.h"
#include "summary_opcodes.h"
#include "summary_parts.h"
#include "summary_paths.h"

/* `sure`: each single value is. */
static struct value *distribution(const struct stat_sum *s, bool sure)
{
	const struct value_number rest[] = {
		{ "median", stat_quantile(s, 0.5) },
		{ "p99", stat_quantile(s, 0.99) },
		{ "min", s->min },
		{ "max", s->max },
	};

	return value_join(value_pack("{s:f, s:f, s:b}", "mean", stat_mean(s), "deviation", spread_deviation(&s->spread),
				     "exact", sure && stat_exact(s)),
			  VALUE_NUMBERS(rest));
}

struct value *summary_ranges(const struct stat_sum *s)
{
	struct value *array = value_array();
	struct stat_range r;

	for (unsigned at = 0; (at = stat_next(s, at, &r));)
		array = value_append(array, value_pack("[I, I, I]", (int64_t)r.low, (int64_t)r.high, (int64_t)r.n));
	return array;
}

static struct value *trips(const struct loop *loop)
{
	return value_join(value_pack("{s:I, s:o}", "entries", (int64_t)loop->trips.n, "distribution",
				     summary_ranges(&loop->trips)),
			  distribution(&loop->trips, true));
}

/* clang-format off */
static struct value *instruction(const struct process *p, const struct body_row *row)
{
	const struct value_number where[] = {
		{ "offset", row->instr->offset },
		{ "line", row->instr->line > 0 ? row->instr->line : 0 },
	};
	struct value *what = value_pack("{s:o, s:o, s:o, s:b}",
				 "opcode", value_text(process_opname(p, row->instr->base)),
				 "specialized", value_text(process_opname(p, row->instr->adaptive)),
				 "cycles", row->known ? value_real(row->cycles) : value_null(),
				 "measured", row->measured && !p->coarse);

	what = value_join(what, value_pack("{s:o}", "block",
					 summary_number_or_null(row->block, row->block ? row->block->head : 0)));
	return value_join(VALUE_NUMBERS(where), what);
}
/* clang-format on */

static struct value *instructions(const struct loop *loop)
{
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_rows(loop, rows, loop->code->ninstrs) : 0;
	struct value *array = rows ? value_array() : NULL;

	for (size_t i = 0; i < n; i++)
		array = value_append(array, instruction(loop->code->process, &rows[i]));
	free(rows);
	return array;
}

/* clang-format off */
static struct value *loop_object(const struct profile *p, const struct loop *loop)
{
	uint64_t timed = loop->cycles.n;
	const struct value_number counts[] = {
		{ "head_offset", loop->head },
		{ "firstlineno", loop->code->firstlineno },
		{ "pid", loop->code->process->pid },
		{ "line", loop->line },
		{ "entries", loop->entries },
		{ "iterations", loop->iterations },
		{ "timed", timed },
	};
	struct value *rest = value_pack("{s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:o}",
				 "cycles", distribution(&loop->cycles, !loop->code->process->coarse),
				 "block_cycles", timed ? value_real(body_block_cycles(loop)) : value_null(),
				 "trips", trips(loop),
				 "paths", summary_paths(p, loop),
				 "share", profile_share(p, loop),
				 "own_share", profile_own_share(p, loop),
				 "uops", timed ? (double)loop->uops / timed : 0.0,
				 "instructions", instructions(loop));

	if (loop->code->function->objects || loop->suspended_ns)
		rest = value_join(rest, value_pack("{s:I}", "suspended_ns", (int64_t)loop->suspended_ns));
	rest = value_join(summary_own_and_total(!loop->code->function->cpu_unknown,
					       loop->own_time, loop->own_off, loop->time, loop->off),
			 rest);
	return value_join(value_join(summary_place(loop->code), VALUE_NUMBERS(counts)), rest);
}
/* clang-format on */

struct value *summary_loop(const struct profile *p, const struct loop *loop, bool tables)
{
	struct value *o = value_join(loop_object(p, loop), summary_origin(p, loop->code));

	if (!tables)
		return o;
	return value_join(o, value_pack("{s:o}", "opcodes", summary_loop_opcodes(p, loop)));
}

static struct value *compiled(const struct compiled_row *row)
{
	const struct value_number numbers[] = {
		{ "firstlineno", row->code->firstlineno },
		{ "pid", row->code->process->pid },
		{ "line", row->line },
		{ "count", row->n },
		{ "ns", row->ns },
	};

	return value_join(summary_place(row->code), VALUE_NUMBERS(numbers));
}

struct value *summary_compiled(const struct profile *p)
{
	size_t n = 0;
	struct compiled_row *rows = p->zoomed ? NULL : compiled_rows(p->codes, &n);
	struct value *array = n ? value_array() : rows || p->zoomed ? value_null() : NULL;

	for (size_t i = 0; i < n; i++)
		array = value_append(array, compiled(&rows[i]));
	free(rows);
	return array;
}
