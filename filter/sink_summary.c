// SPDX-License-Identifier: MIT
/*
 * One JSON object, built at the end. jansson's packing makes a whole NULL when a part is NULL, so
 * memory is asked about once.
 */
#include "sink_summary.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "losses.h"
#include "profile.h"
#include "sink_file.h"
#include "text.h"

#define REAL_DIGITS 9 /* a share or a mean is not known better */

/* A string of any bytes; null for NULL. */
static json_t *string(const char *s)
{
	char *valid = s ? text_utf8(s) : NULL;
	json_t *v = s ? json_string(valid) : json_null();

	free(valid);
	return v;
}

/* Adds the members of `more` to o. NULL if either is. */
static json_t *join(json_t *o, json_t *more)
{
	if (o && more && !json_object_update(o, more)) {
		json_decref(more);
		return o;
	}
	json_decref(o);
	json_decref(more);
	return NULL;
}

static json_t *place(const struct code *code)
{
	return json_pack("{s:o, s:o}", "file", string(code->file), "qualname",
			 string(code->qualname));
}

struct number {
	const char *key;
	json_int_t value;
};

static json_t *numbers(const struct number *rows, size_t n)
{
	json_t *o = json_object();
	int err = !o;

	for (size_t i = 0; i < n && !err; i++)
		err = json_object_set_new(o, rows[i].key, json_integer(rows[i].value));
	return err ? json_decref(o), NULL : o;
}

#define NUMBERS(rows) numbers(rows, sizeof(rows) / sizeof(rows[0]))

static json_t *function(const struct code *code)
{
	const struct function *f = code->function;
	const struct number totals[] = {
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

	return join(join(place(code), NUMBERS(totals)),
		    json_pack("{s:f}", "self_cycles_deviation", spread_deviation(&f->self_spread)));
}

static json_t *functions(const struct profile *p)
{
	json_t *array = json_array();
	size_t n = 0;
	struct code **all = profile_functions(p, &n);
	int err = !all;

	for (size_t i = 0; i < n && !err; i++)
		err = json_array_append_new(array, function(all[i]));
	free(all);
	return err ? json_decref(array), NULL : array;
}

static json_t *cycles(const struct stat_sum *s)
{
	const struct number rest[] = {
		{ "median", stat_quantile(s, 0.5) },
		{ "p99", stat_quantile(s, 0.99) },
		{ "min", s->min },
		{ "max", s->max },
	};

	return join(json_pack("{s:f, s:f}", "mean", stat_mean(s), "deviation",
			      spread_deviation(&s->spread)),
		    NUMBERS(rest));
}

/* clang-format off */
static json_t *instruction(const struct process *p, const struct body_row *row)
{
	const struct number where[] = {
		{ "offset", row->instr->offset },
		{ "line", row->instr->line },
	};
	json_t *what = json_pack("{s:o, s:o, s:o, s:b}",
				 "opcode", string(process_opname(p, row->instr->base)),
				 "specialized", string(process_opname(p, row->instr->adaptive)),
				 "cycles", row->known ? json_real(row->cycles) : json_null(),
				 "measured", row->measured);

	return join(NUMBERS(where), what);
}
/* clang-format on */

static json_t *instructions(const struct loop *loop)
{
	json_t *array = json_array();
	struct body_row *rows = calloc(loop->code->ninstrs + 1, sizeof(*rows));
	size_t n = rows ? body_rows(loop, rows, loop->code->ninstrs) : 0;
	int err = !rows;

	for (size_t i = 0; i < n && !err; i++)
		err = json_array_append_new(array, instruction(loop->code->process, &rows[i]));
	free(rows);
	return err ? json_decref(array), NULL : array;
}

/* clang-format off */
static json_t *loop_object(const struct profile *p, const struct loop *loop)
{
	uint64_t timed = loop->cycles.n;
	const struct number counts[] = {
		{ "head_offset", loop->head },
		{ "line", loop_line(loop) },
		{ "entries", loop->entries },
		{ "iterations", loop->iterations },
		{ "timed", timed },
	};
	json_t *rest = json_pack("{s:o, s:f, s:f, s:o}",
				 "cycles", cycles(&loop->cycles),
				 "share", profile_share(p, loop),
				 "uops", timed ? (double)loop->uops / timed : 0.0,
				 "instructions", instructions(loop));

	return join(join(place(loop->code), NUMBERS(counts)), rest);
}
/* clang-format on */

static json_t *loops(const struct profile *p)
{
	json_t *array = json_array();
	size_t n = 0;
	struct loop **all = profile_loops(p, &n);
	int err = !all;

	for (size_t i = 0; i < n && !err; i++)
		err = json_array_append_new(array, loop_object(p, all[i]));
	free(all);
	return err ? json_decref(array), NULL : array;
}

static json_t *events(const struct profile *p)
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (p->events[op])
			json_object_set_new(o, sample_op_name(op), json_integer(p->events[op]));
	return o;
}

static json_t *callbacks(const struct process *p)
{
	json_t *o = json_object();

	for (unsigned op = OP_EVENT_FIRST; op <= OP_EVENT_LAST; op++)
		if (p->callback_cycles[op])
			json_object_set_new(o, sample_op_name(op),
					    json_integer(p->callback_cycles[op]));
	return o;
}

/* clang-format off */
static json_t *process(const struct process *p)
{
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
			 "pid", p->pid,
			 "argv", string(p->argv),
			 "python", string(p->python),
			 "mode", string(p->mode),
			 "backend", string(p->backend),
			 "stopped", p->stopped,
			 "untraced", string(p->untraced),
			 "callback_cycles", callbacks(p));
}
/* clang-format on */

static json_t *processes(const struct profile *p)
{
	json_t *array = json_array();
	int err = 0;

	for (struct map_slot *s = NULL; !err && (s = map_next(&p->codes->processes, s));)
		err = json_array_append_new(array, process(s->value));
	return err ? json_decref(array), NULL : array;
}

static json_t *losses(const struct profile *p)
{
	struct loss rows[LOSSES];
	json_t *o = json_object();

	losses_of(p, rows);
	for (int i = 0; i < LOSSES; i++)
		json_object_set_new(o, rows[i].key, json_integer(rows[i].count));
	return o;
}

static json_t *clock_object(const struct profile *p)
{
	return json_pack("{s:s, s:I}", "cycles", p->clock, "hz", (json_int_t)p->clock_hz);
}

static json_t *trace_object(const struct profile *p)
{
	const struct number rows[] = {
		{ "start_ns", p->start_ns },   { "end_ns", p->end_ns },
		{ "traced_ns", p->traced_ns }, { "traced_cycles", p->traced_cycles },
		{ "threads", p->threads },     { "processes", p->processes },
	};

	return NUMBERS(rows);
}

/* clang-format off */
static json_t *summary(const struct profile *p)
{
	return json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "schema", SUMMARY_SCHEMA,
			 "clock", clock_object(p),
			 "trace", trace_object(p),
			 "processes", processes(p),
			 "events", events(p),
			 "functions", functions(p),
			 "loops", loops(p),
			 "losses", losses(p));
}
/* clang-format on */

static int render(FILE *f, struct sink *s, const struct profile *p)
{
	json_t *o = summary(p);
	int err = o ? json_dumpf(o, f, JSON_INDENT(1) | JSON_REAL_PRECISION(REAL_DIGITS)) : -ENOMEM;

	(void)s;
	json_decref(o);
	fputc('\n', f);
	return err;
}

static int summary_finish(struct sink *s, const struct profile *p)
{
	int err = sink_file_render(s, render, p);

	return err ? err : sink_file_close(s);
}

static const struct sink_ops summary_ops = {
	.finish = summary_finish,
	.free = sink_file_free,
};

int sink_summary_open(struct sink **out, const struct sink_options *o, char *error)
{
	return sink_file_open(out, sizeof(struct sink_file), &summary_ops, o, error);
}
