// SPDX-License-Identifier: MIT
#include "summary_opcodes.h"

#include <stdlib.h>

#include "base/value.h"
#include "model/chains.h"

/* Only where it is not the least, too. */
static struct value *most_of_callbacks(const struct callback *c)
{
	const struct value_number most[] = { { "callback_cycles_most", c->most } };

	return value_numbers(most, c->most != c->least);
}

static struct value *row_object(const struct opcode_row *row, enum opcodes_source source)
{
	const struct value_number counts[] = {
		{ "count", row->n },
	};
	const struct value_number times[] = {
		{ "timed", row->timed },
		{ "ns", row->ns },
		{ "cycles", row->cycles },
		{ "callback_cycles", row->callbacks.least },
	};
	struct value *o = value_pack("{s:o, s:o}", "opcode", value_text(row->base), "specialized",
				     value_text(row->specialized));

	o = value_join(o, VALUE_NUMBERS(counts));
	if (source != OPCODES_MEASURED)
		return o;
	return value_join(value_join(o, VALUE_NUMBERS(times)), most_of_callbacks(&row->callbacks));
}

static struct value *row_array(const struct opcodes *o)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < o->nrows; i++)
		array = value_append(array, row_object(&o->rows[i], o->source));
	return array;
}

/* Names are in the rows: a pair refers to them by index. */
static struct value *pair_array(const struct opcodes *o)
{
	struct value *array = value_array();

	for (uint32_t i = 0; i < o->npairs; i++) {
		const struct value_number numbers[] = {
			{ "from", o->pairs[i].from },
			{ "to", o->pairs[i].to },
			{ "count", o->pairs[i].n },
		};

		array = value_append(array, VALUE_NUMBERS(numbers));
	}
	return array;
}

#define CHAINS_SHOWN 10000 /* the most frequent ones */

/* rows: for each form its row. */
static struct value *chain_object(const struct chains *c, const struct chain *chain, const uint32_t *rows)
{
	const struct value_number count[] = { { "count", chain->n } };
	struct value *array = value_array();

	for (unsigned i = 0; i < c->length; i++)
		array = value_append(array, value_integer(rows[chain->forms[i]]));
	return value_join(VALUE_NUMBERS(count), value_pack("{s:o}", "opcodes", array));
}

static struct value *chain_array(const struct chains *c, const struct opcodes *o)
{
	const struct chain **sorted = chains_sorted(c);
	uint32_t *rows = chains_rows(c, o);
	struct value *array = sorted && rows ? value_array() : NULL;

	for (uint32_t i = 0; array && i < c->n && i < CHAINS_SHOWN; i++)
		array = value_append(array, chain_object(c, sorted[i], rows));
	free(sorted);
	free(rows);
	return array;
}

static struct value *chains_object(const struct chains *c, const struct opcodes *o)
{
	const struct value_number numbers[] = {
		{ "length", c->length },
		{ "different", c->n },
		{ "counted", c->counted },
		{ "left_out", c->left_out },
	};

	return value_join(VALUE_NUMBERS(numbers), value_pack("{s:o}", "rows", chain_array(c, o)));
}

static struct value *source_name(enum opcodes_source source)
{
	static const char *const names[] = {
		[OPCODES_UNKNOWN] = NULL,
		[OPCODES_MEASURED] = "measured",
		[OPCODES_DERIVED] = "derived",
	};

	return value_text(names[source]);
}

/* Sorts and frees o. c: NULL: no chains; err: from adding up o. */
static struct value *object(struct opcodes *o, const struct chains *c, int err)
{
	struct value *object = NULL;

	opcodes_sort(o, OPCODES_BY_TIME);
	if (!err)
		object = value_pack("{s:o, s:I, s:o, s:o}", "source", source_name(o->source), "count", (int64_t)o->n,
				    "rows", row_array(o), "pairs", pair_array(o));
	if (c)
		object = value_join(object, value_pack("{s:o}", "chains", chains_object(c, o)));
	opcodes_free(o);
	return object;
}

struct value *summary_function_opcodes(const struct profile *p, const struct code *code)
{
	struct opcodes o = { .source = opcodes_source(p) };

	return object(&o, NULL, opcodes_add_function(&o, code));
}

struct value *summary_loop_opcodes(const struct profile *p, const struct loop *loop)
{
	struct opcodes o = { .source = opcodes_source(p) };

	return object(&o, NULL, opcodes_add_loop(&o, loop));
}

struct value *summary_opcodes(const struct profile *p)
{
	struct opcodes o = { .source = opcodes_source(p) };
	int err = opcodes_add_program(&o, p);
	const struct value_number sums[] = {
		{ "ns", o.ns },
		{ "cycles", o.cycles },
		{ "callback_cycles", o.callbacks.least },
		{ "no_opcode_ns", p->no_opcode.ns },
		{ "no_opcode_cycles", p->no_opcode.cycles },
		{ "unknown_count", p->unknown_opcode.n },
		{ "unknown_ns", p->unknown_opcode.ns },
		{ "unknown_cycles", p->unknown_opcode.cycles },
	};
	const struct callback callbacks = o.callbacks;
	bool measured = o.source == OPCODES_MEASURED;
	struct value *of_all = object(&o, measured ? p->chains : NULL, err);

	return measured ? value_join(value_join(of_all, VALUE_NUMBERS(sums)), most_of_callbacks(&callbacks)) : of_all;
}
