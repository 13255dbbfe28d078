// SPDX-License-Identifier: MIT
/* Optracker's two tables: the time of each opcode, and which one came after it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/figure.h"
#include "model/chains.h"
#include "report.h"
#include "report_write.h"

#define CHAIN_COLUMN 16 /* a blank, then the names of a chain */

static void write_opcode(const struct report *r, const struct opcode_row *row)
{
	write_form(r, row->base, row->specialized != row->base ? row->specialized : NULL);
}

/* Of one: "33", or "33-45". */
static void write_callbacks(const struct report *r, const struct opcode_row *row)
{
	char least[FIGURE], most[FIGURE], text[2 * FIGURE] = "-";

	figure_brief(least, (double)row->callbacks.least / row->n);
	figure_brief(most, (double)row->callbacks.most / row->n);
	if (row->callbacks.most)
		snprintf(text, sizeof(text), strcmp(least, most) ? "%s-%s" : "%s", least, most);
	fprintf(r->f, " %6s", text);
}

static void write_measured(const struct report *r, const struct opcodes *o, const struct opcode_row *row)
{
	write_share(r, row->cycles, o->cycles);
	write_number(r, row->n);
	write_duration(r, row->ns);
	write_number(r, opcode_per_call(row));
	write_callbacks(r, row);
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

/* The share is of all pairs with the same first. */
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
	fputs("  count  share  pair; shares are of what follows the first\n", r->f);
	for (uint32_t i = 0; i < o->npairs && n < most; i++)
		if (shown[o->pairs[i].from]) {
			write_pair(r, o, &o->pairs[i]);
			n++;
		}
}

/* The share is of all chains. As many names in a line as fit, at least one. */
static void write_chain(const struct report *r, const struct chains *c, const struct chain *chain)
{
	unsigned column = CHAIN_COLUMN;

	write_number(r, chain->n);
	fprintf(r->f, "  %5.1f%% ", 100.0 * chain->n / (c->counted + c->left_out));
	for (unsigned i = 0; i < c->length; i++) {
		const char *name = c->forms.rows[chain->forms[i]].specialized;
		unsigned width = strlen(name) + strlen(" ,");

		if (i && column + width > r->width) {
			fprintf(r->f, "\n%*s", CHAIN_COLUMN, "");
			column = CHAIN_COLUMN;
		}
		fprintf(r->f, " %s%s", name, i + 1 < c->length ? "," : "\n");
		column += width;
	}
}

static void write_left_out(const struct report *r, const struct chains *c)
{
	if (!c->left_out)
		return;
	write_number(r, c->left_out);
	fprintf(r->f, "  %5.1f%%  all chains that were first seen after %u others: not distinguished\n",
		100.0 * c->left_out / (c->counted + c->left_out), CHAINS_MOST);
}

/* Chains that begin with one of the rows shown, most frequent first. 0 or -ENOMEM. */
static int write_chains(const struct report *r, const struct chains *c, const struct opcodes *o, const bool *shown,
			uint32_t most)
{
	const struct chain **sorted = chains_sorted(c);
	uint32_t *rows = chains_rows(c, o), n = 0;
	int err = sorted && rows ? 0 : -ENOMEM;

	if (!err)
		fprintf(r->f, "  count  share  chain of %u (%u different); shares are of all\n", c->length, c->n);
	for (uint32_t i = 0; !err && i < c->n && n < most; i++) {
		uint32_t first = rows[sorted[i]->forms[0]];

		if (first != OPCODES_NONE && shown[first]) {
			write_chain(r, c, sorted[i]);
			n++;
		}
	}
	if (!err)
		write_left_out(r, c);
	free(sorted);
	free(rows);
	return err;
}

static void write_heading(const struct report *r, const struct opcodes *o)
{
	if (o->source == OPCODES_MEASURED)
		fputs(" time%  count       time cycles   (cb)  opcode\n", r->f);
	else
		fputs("count%  count  opcode, derived: as though each trip ran all of its block once\n", r->f);
}

/* c: NULL: no chains. */
static int write_tables(const struct report *r, const struct opcodes_view *v, uint32_t most, const struct opcodes *o,
			const struct chains *c)
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
	if (!err && c && c->n)
		err = write_chains(r, c, o, shown, *v->limits ? n : most);
	free(rows);
	free(shown);
	return err;
}

/* Sorts, writes and frees o. c: NULL: no chains; err: from adding up o. */
static int finish(const struct report *r, const struct opcodes_view *v, uint32_t most, struct opcodes *o,
		  const struct chains *c, int err)
{
	opcodes_sort(o, v->order);
	if (!err && o->nrows)
		err = write_tables(r, v, most, o, c);
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
	return finish(r, v, most, &o, NULL, opcodes_add_function(&o, code));
}

int report_loop_opcodes(const struct report *r, const struct opcodes_view *v, uint32_t most, const struct loop *loop)
{
	struct opcodes o = { .source = opcodes_source(r->p) };

	write_subject(r, "loop", loop->code, loop->line);
	return finish(r, v, most, &o, NULL, opcodes_add_loop(&o, loop));
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
	if (o.source != OPCODES_MEASURED && r->p->chains)
		fputs("No chains: modes precise, full and opcodes alone record every instruction.\n", r->f);
	return finish(r, v, most, &o, r->p->chains, err);
}
