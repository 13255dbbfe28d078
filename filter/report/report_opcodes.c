// SPDX-License-Identifier: MIT
/* Optracker's two tables: what each opcode took, and which one came after it. */
#include <errno.h>
#include <stdlib.h>

#include "model/body.h"
#include "report.h"
#include "report_write.h"

static void write_opcode(const struct report *r, const struct opcode_row *row)
{
	write_form(r, row->base, row->specialized != row->base ? row->specialized : NULL);
}

static void write_measured(const struct report *r, const struct opcodes *o, const struct opcode_row *row)
{
	write_share(r, row->cycles, o->cycles);
	write_number(r, row->n);
	write_duration(r, row->ns);
	write_number(r, opcode_per_call(row));
	if (row->callback_cycles)
		write_number(r, (double)row->callback_cycles / row->n);
	else
		fprintf(r->f, " %6s", "-");
}

static void write_row(const struct report *r, const struct opcodes *o, const struct opcode_row *row)
{
	if (o->source == OPCODES_MEASURED) {
		write_measured(r, o, row);
	} else {
		write_share(r, row->n, o->n);
		write_number(r, row->n);
	}
	fputs("  ", r->f);
	write_opcode(r, row);
	fputc('\n', r->f);
}

/* The share is of all pairs that begin alike. */
static void write_pair(const struct report *r, const struct opcodes *o, const struct opcode_pair *pair)
{
	write_number(r, pair->n);
	fprintf(r->f, "  %5.1f%%  ", 100.0 * pair->n / opcodes_followed(o, pair->from));
	write_opcode(r, &o->rows[pair->from]);
	fputs(" is followed by ", r->f);
	write_opcode(r, &o->rows[pair->to]);
	fputc('\n', r->f);
}

/* Pairs that begin with one of the rows shown, most frequent first. */
static void write_pairs(const struct report *r, const struct opcodes *o, const bool *shown, uint32_t most)
{
	uint32_t n = 0;

	if (!o->npairs || !most)
		return;
	fputs("  count  share  pair\n", r->f);
	for (uint32_t i = 0; i < o->npairs && n < most; i++)
		if (shown[o->pairs[i].from]) {
			write_pair(r, o, &o->pairs[i]);
			n++;
		}
}

static void write_heading(const struct report *r, const struct opcodes *o)
{
	if (o->source == OPCODES_MEASURED)
		fputs(" share  count       time cycles   (cb)  opcode\n", r->f);
	else
		fputs(" share  count  opcode, derived: as though each trip ran all of its block once\n", r->f);
}

static int write_tables(const struct report *r, const struct opcodes_view *v, uint32_t most, const struct opcodes *o)
{
	uint32_t *rows = calloc(o->nrows + 1, sizeof(*rows));
	bool *shown = calloc(o->nrows + 1, sizeof(*shown));
	uint32_t n = rows && shown ? opcodes_view_rows(v, o, most, rows) : 0;
	int err = rows && shown ? 0 : -ENOMEM;

	if (!err)
		write_heading(r, o);
	for (uint32_t i = 0; i < n; i++) {
		write_row(r, o, &o->rows[rows[i]]);
		shown[rows[i]] = true;
	}
	if (!err)
		write_pairs(r, o, shown, *v->limits ? n : most);
	free(rows);
	free(shown);
	return err;
}

/* Sorts, writes and frees o. err: of adding it up. */
static int finish(const struct report *r, const struct opcodes_view *v, uint32_t most, struct opcodes *o, int err)
{
	opcodes_sort(o, v->order);
	if (!err && o->nrows)
		err = write_tables(r, v, most, o);
	else if (!err)
		fputs("No opcode is known.\n", r->f);
	opcodes_free(o);
	return err;
}

static void write_subject(const struct report *r, const char *what, const struct code *code, int64_t line)
{
	fprintf(r->f, "\n%sOpcodes of the %s%s", r->c->title, what, r->c->plain);
	write_place(r, code, line, SAMPLE_NOWHERE, 24);
}

int report_function_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most,
			    const struct code *code)
{
	struct opcodes o = { .source = opcodes_source(r->p) };

	write_subject(r, "function", code, code->firstlineno);
	return finish(r, v, most, &o, opcodes_add_function(&o, code));
}

int report_loop_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most, const struct loop *loop)
{
	struct opcodes o = { .source = opcodes_source(r->p) };

	write_subject(r, "loop", loop->code, loop_line(loop));
	return finish(r, v, most, &o, opcodes_add_loop(&o, loop));
}

int report_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most)
{
	struct opcodes o = { .source = opcodes_source(r->p) };
	int err = opcodes_add_program(&o, r->p);

	write_title(r, "Opcodes and what follows them");
	if (o.source == OPCODES_MEASURED && profile_instrumented(r->p))
		fputs("To the thread's next instruction: calls and one callback (cb) are in its time.\n", r->f);
	else if (o.source == OPCODES_MEASURED)
		fputs("To the thread's next instruction: calls are in its time.\n", r->f);
	return finish(r, v, most, &o, err);
}
