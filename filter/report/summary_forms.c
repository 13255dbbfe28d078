// SPDX-License-Identifier: MIT
#include "summary_forms.h"

#include <stdlib.h>

#include "base/value.h"

static struct value *counts(const struct form_counts *c)
{
	struct value_number numbers[FORMS_COUNTS];

	for (int i = 0; i < FORMS_COUNTS; i++)
		numbers[i] = (struct value_number){ forms_names[i], c->n[i] };
	return VALUE_NUMBERS(numbers);
}

static struct value *buckets(const struct forms *f)
{
	struct value *array = value_array();

	for (unsigned i = 0; i < f->used; i++)
		array = value_append(array, counts(&f->buckets[i]));
	return array;
}

/* How often it ran in each form. */
static struct value *ran_as(const struct code *code, const struct instr_cost *cost)
{
	struct value *o = value_object();

	for (uint32_t i = 0; i < cost->nforms; i++)
		o = value_set(o, process_opname(code->process, cost->forms[i].opcode), value_integer(cost->forms[i].n));
	return o;
}

static struct value *instruction(const struct code *code, uint32_t i, const struct form_counts *c)
{
	const struct instr *instr = &code->instrs[i];
	const struct value_number where[] = {
		{ "firstlineno", code->firstlineno },
		{ "pid", code->process->pid },
		{ "line", instr->line > 0 ? instr->line : 0 },
		{ "offset", instr->offset },
	};
	struct value *o = value_pack("{s:o, s:o, s:o, s:o}", "file", value_text(code->file), "qualname",
				     value_text(code->qualname), "opcode",
				     value_text(process_opname(code->process, instr->base)), "forms",
				     ran_as(code, &code->function->costs[i]));

	return value_join(value_join(o, VALUE_NUMBERS(where)), counts(c));
}

static struct value *add_instructions(struct value *array, const struct code *code)
{
	for (uint32_t i = 0; code->function->costs && i < code->ninstrs; i++) {
		struct form_counts c = forms_of(&code->function->costs[i]);

		if (forms_changed(&c))
			array = value_append(array, instruction(code, i, &c));
	}
	return array;
}

/* Those that were not only specialised once. */
static struct value *instructions(const struct profile *p)
{
	size_t n = 0;
	struct code **all = profile_functions(p, &n, RANK_TIME);
	struct value *array = all ? value_array() : NULL;

	for (size_t i = 0; i < n; i++)
		array = add_instructions(array, all[i]);
	free(all);
	return array;
}

struct value *summary_forms(const struct profile *p)
{
	const struct forms *f = &p->forms;
	struct form_counts sum = forms_sum(f);
	const struct value_number times[] = {
		{ "start_ns", f->start_ns },
		{ "bucket_ns", 1ll << f->shift },
	};

	if (!f->known)
		return value_null();
	return value_join(value_join(counts(&sum), VALUE_NUMBERS(times)),
			  value_pack("{s:o, s:o}", "buckets", buckets(f), "instructions", instructions(p)));
}
