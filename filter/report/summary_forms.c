// SPDX-License-Identifier: MIT
#include "summary_forms.h"

#include <stdlib.h>

#include "base/json.h"

static json_t *counts(const struct form_counts *c)
{
	struct json_number numbers[FORMS_COUNTS];

	for (int i = 0; i < FORMS_COUNTS; i++)
		numbers[i] = (struct json_number){ forms_names[i], c->n[i] };
	return JSON_NUMBERS(numbers);
}

static json_t *buckets(const struct forms *f)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < f->used; i++)
		array = json_append(array, counts(&f->buckets[i]));
	return array;
}

/* How often it ran in each form. */
static json_t *ran_as(const struct code *code, const struct instr_cost *cost)
{
	json_t *o = json_object();

	for (uint32_t i = 0; o && i < cost->nforms; i++)
		json_object_set_new(o, process_opname(code->process, cost->forms[i].opcode),
				    json_integer(cost->forms[i].n));
	return o;
}

static json_t *instruction(const struct code *code, uint32_t i, const struct form_counts *c)
{
	const struct instr *instr = &code->instrs[i];
	const struct json_number where[] = {
		{ "firstlineno", code->firstlineno },
		{ "pid", code->process->pid },
		{ "line", instr->line > 0 ? instr->line : 0 },
		{ "offset", instr->offset },
	};
	json_t *o = json_pack("{s:o, s:o, s:o, s:o}", "file", json_text(code->file), "qualname",
			      json_text(code->qualname), "opcode",
			      json_text(process_opname(code->process, instr->base)), "forms",
			      ran_as(code, &code->function->costs[i]));

	return json_join(json_join(o, JSON_NUMBERS(where)), counts(c));
}

static int add_instructions(json_t *array, const struct code *code)
{
	int err = 0;

	for (uint32_t i = 0; code->function->costs && i < code->ninstrs && !err; i++) {
		struct form_counts c = forms_of(&code->function->costs[i]);

		if (forms_changed(&c))
			err = json_array_append_new(array, instruction(code, i, &c));
	}
	return err;
}

/* Those that were not only specialised once. */
static json_t *instructions(const struct profile *p)
{
	size_t n = 0;
	struct code **all = profile_functions(p, &n, RANK_TIME);
	json_t *array = all ? json_array() : NULL;
	int err = !array;

	for (size_t i = 0; i < n && !err; i++)
		err = add_instructions(array, all[i]);
	free(all);
	return err ? json_decref(array), NULL : array;
}

json_t *summary_forms(const struct profile *p)
{
	const struct forms *f = &p->forms;
	struct form_counts sum = forms_sum(f);
	const struct json_number times[] = {
		{ "start_ns", f->start_ns },
		{ "bucket_ns", 1ll << f->shift },
	};

	if (!f->known)
		return json_null();
	return json_join(json_join(counts(&sum), JSON_NUMBERS(times)),
			 json_pack("{s:o, s:o}", "buckets", buckets(f), "instructions", instructions(p)));
}
