// SPDX-License-Identifier: MIT
#include "summary_opcodes.h"

#include <stdlib.h>

#include "base/json.h"
#include "model/chains.h"

/* Only where it is not the least, too. */
static json_t *most_of_callbacks(const struct callback *c)
{
	const struct json_number most[] = { { "callback_cycles_most", c->most } };

	return json_numbers(most, c->most != c->least);
}

static json_t *row_object(const struct opcode_row *row, enum opcodes_source source)
{
	const struct json_number counts[] = {
		{ "count", row->n },
	};
	const struct json_number times[] = {
		{ "timed", row->timed },
		{ "ns", row->ns },
		{ "cycles", row->cycles },
		{ "callback_cycles", row->callbacks.least },
	};
	json_t *o = json_pack("{s:o, s:o}", "opcode", json_text(row->base), "specialized", json_text(row->specialized));

	o = json_join(o, JSON_NUMBERS(counts));
	if (source != OPCODES_MEASURED)
		return o;
	return json_join(json_join(o, JSON_NUMBERS(times)), most_of_callbacks(&row->callbacks));
}

static json_t *row_array(const struct opcodes *o)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < o->nrows; i++)
		array = json_append(array, row_object(&o->rows[i], o->source));
	return array;
}

/* Names are in the rows: a pair refers to them by index. */
static json_t *pair_array(const struct opcodes *o)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < o->npairs; i++) {
		const struct json_number numbers[] = {
			{ "from", o->pairs[i].from },
			{ "to", o->pairs[i].to },
			{ "count", o->pairs[i].n },
		};

		array = json_append(array, JSON_NUMBERS(numbers));
	}
	return array;
}

#define CHAINS_SHOWN 10000 /* the most frequent ones */

/* rows: for each form its row. */
static json_t *chain_object(const struct chains *c, const struct chain *chain, const uint32_t *rows)
{
	const struct json_number count[] = { { "count", chain->n } };
	json_t *array = json_array();

	for (unsigned i = 0; i < c->length; i++)
		json_array_append_new(array, json_integer(rows[chain->forms[i]]));
	return json_join(JSON_NUMBERS(count), json_pack("{s:o}", "opcodes", array));
}

static json_t *chain_array(const struct chains *c, const struct opcodes *o)
{
	const struct chain **sorted = chains_sorted(c);
	uint32_t *rows = chains_rows(c, o);
	json_t *array = sorted && rows ? json_array() : NULL;

	for (uint32_t i = 0; array && i < c->n && i < CHAINS_SHOWN; i++)
		array = json_append(array, chain_object(c, sorted[i], rows));
	free(sorted);
	free(rows);
	return array;
}

static json_t *chains_object(const struct chains *c, const struct opcodes *o)
{
	const struct json_number numbers[] = {
		{ "length", c->length },
		{ "different", c->n },
		{ "counted", c->counted },
		{ "left_out", c->left_out },
	};

	return json_join(JSON_NUMBERS(numbers), json_pack("{s:o}", "rows", chain_array(c, o)));
}

static json_t *source_name(enum opcodes_source source)
{
	static const char *const names[] = {
		[OPCODES_UNKNOWN] = NULL,
		[OPCODES_MEASURED] = "measured",
		[OPCODES_DERIVED] = "derived",
	};

	return json_text(names[source]);
}

/* Sorts and frees o. c: NULL: no chains; err: from adding up o. */
static json_t *object(struct opcodes *o, const struct chains *c, int err)
{
	json_t *object = NULL;

	opcodes_sort(o, OPCODES_BY_TIME);
	if (!err)
		object = json_pack("{s:o, s:I, s:o, s:o}", "source", source_name(o->source), "count", (json_int_t)o->n,
				   "rows", row_array(o), "pairs", pair_array(o));
	if (c)
		object = json_join(object, json_pack("{s:o}", "chains", chains_object(c, o)));
	opcodes_free(o);
	return object;
}

json_t *summary_function_opcodes(const struct profile *p, const struct code *code)
{
	struct opcodes o = { .source = opcodes_source(p) };

	return object(&o, NULL, opcodes_add_function(&o, code));
}

json_t *summary_loop_opcodes(const struct profile *p, const struct loop *loop)
{
	struct opcodes o = { .source = opcodes_source(p) };

	return object(&o, NULL, opcodes_add_loop(&o, loop));
}

json_t *summary_opcodes(const struct profile *p)
{
	struct opcodes o = { .source = opcodes_source(p) };
	int err = opcodes_add_program(&o, p);
	const struct json_number sums[] = {
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
	json_t *of_all = object(&o, measured ? p->chains : NULL, err);

	return measured ? json_join(json_join(of_all, JSON_NUMBERS(sums)), most_of_callbacks(&callbacks)) : of_all;
}
