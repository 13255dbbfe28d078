// SPDX-License-Identifier: MIT
/* How a function's instructions were specialized, and where a free-threaded CPython's copies of it differ. */
#include "summary_parts.h"

#include "code/copies.h"
#include "code/specialization.h"

static json_t *threads_of(const struct process *p, uint32_t copy)
{
	json_t *tids = json_array();

	for (uint32_t i = 0; i < p->ncopiers; i++)
		if (p->copiers[i].copy == copy)
			json_array_append_new(tids, json_integer(p->copiers[i].tid));
	return tids;
}

static json_t *copies(const struct code *code)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		const struct copy *copy = &code->copies[i];
		struct copy_state s = copies_state(code, copy);

		json_array_append_new(list, json_pack("{s:i, s:o, s:i, s:i}", "copy", (int)copy->number, "threads",
						      threads_of(code->process, copy->number), "specialized",
						      (int)s.specialized, "base", (int)s.base));
	}
	return list;
}

/* How many copies have each of the instruction's forms. */
static json_t *forms(const struct code *code, uint32_t at)
{
	json_t *counts = json_object();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		uint8_t form = code->copies[i].forms[at];

		json_object_set_new(counts, process_opname(code->process, form),
				    json_integer(copies_having(code, at, form)));
	}
	return counts;
}

static json_t *differing(const struct code *code)
{
	json_t *list = json_array();

	for (uint32_t i = 0; (i = copies_differ(code, i)) < code->ninstrs; i++)
		json_array_append_new(list, json_pack("{s:i, s:i, s:s, s:o}", "offset", (int)code->instrs[i].offset,
						      "line", (int)code->instrs[i].line, "opcode",
						      process_opname(code->process, code->instrs[i].base), "forms",
						      forms(code, i)));
	return list;
}

/* clang-format off */
json_t *summary_specialization(const struct code *code)
{
	struct specialization s = specialization_of(code);
	json_t *o;

	o = json_pack("{s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o}",
			 "instructions", (int)s.instructions,
			 "able", summary_number_or_null(code->process->ables, s.able),
			 "at_start", (int)s.first,
			 "specialized", summary_number_or_null(s.known, s.specialized),
			 "base", summary_number_or_null(s.known && code->process->ables, s.base),
			 "gained", summary_number_or_null(s.known, s.gained),
			 "lost", summary_number_or_null(s.known, s.lost),
			 "changed", summary_number_or_null(s.known, s.changed));
	if (code->ncopies) {
		json_object_set_new(o, "copies", copies(code));
		json_object_set_new(o, "differing", differing(code));
	}
	return o;
}
/* clang-format on */
