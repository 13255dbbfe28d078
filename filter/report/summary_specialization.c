// SPDX-License-Identifier: MIT
/* How a function's instructions were specialized, and where a free-threaded CPython's copies of it differ. */
#include "summary_parts.h"

#include "code/copies.h"
#include "code/specialization.h"

static struct value *threads_of(const struct process *p, uint32_t copy)
{
	struct value *tids = value_array();

	for (uint32_t i = 0; i < p->ncopiers; i++)
		if (p->copiers[i].copy == copy)
			tids = value_append(tids, value_integer(p->copiers[i].tid));
	return tids;
}

static struct value *copies(const struct code *code)
{
	struct value *list = value_array();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		const struct copy *copy = &code->copies[i];
		struct copy_state s = copies_state(code, copy);

		list = value_append(list, value_pack("{s:i, s:o, s:i, s:i}", "copy", (int)copy->number, "threads",
						     threads_of(code->process, copy->number), "specialized",
						     (int)s.specialized, "base", (int)s.base));
	}
	return list;
}

/* Does a copy before it have the form that it has? */
static bool is_before(const struct code *code, uint32_t at, uint32_t copy)
{
	uint32_t i = 0;

	while (code->copies[i].forms[at] != code->copies[copy].forms[at])
		i++;
	return i < copy;
}

/* How many copies have each of the instruction's forms. */
static struct value *forms(const struct code *code, uint32_t at)
{
	struct value *counts = value_object();

	for (uint32_t i = 0; i < code->ncopies; i++) {
		uint8_t form = code->copies[i].forms[at];

		if (is_before(code, at, i))
			continue;
		counts = value_set(counts, process_opname(code->process, form),
				   value_integer(copies_having(code, at, form)));
	}
	return counts;
}

static struct value *differing(const struct code *code)
{
	struct value *list = value_array();

	for (uint32_t i = 0; (i = copies_differ(code, i)) < code->ninstrs; i++)
		list = value_append(list, value_pack("{s:i, s:i, s:s, s:o}", "offset", (int)code->instrs[i].offset,
						     "line", (int)code->instrs[i].line, "opcode",
						     process_opname(code->process, code->instrs[i].base), "forms",
						     forms(code, i)));
	return list;
}

/* clang-format off */
struct value *summary_specialization(const struct code *code)
{
	struct specialization s = specialization_of(code);
	struct value *o;

	o = value_pack("{s:i, s:o, s:i, s:o, s:o, s:o, s:o, s:o}",
			 "instructions", (int)s.instructions,
			 "able", summary_number_or_null(code->process->ables, s.able),
			 "at_start", (int)s.first,
			 "specialized", summary_number_or_null(s.known, s.specialized),
			 "base", summary_number_or_null(s.known && code->process->ables, s.base),
			 "gained", summary_number_or_null(s.known, s.gained),
			 "lost", summary_number_or_null(s.known, s.lost),
			 "changed", summary_number_or_null(s.known, s.changed));
	if (code->ncopies) {
		o = value_set(o, "copies", copies(code));
		o = value_set(o, "differing", differing(code));
	}
	return o;
}
/* clang-format on */
