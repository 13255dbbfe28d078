// SPDX-License-Identifier: MIT
#include "specialization.h"

/* Code without a specialised instruction gets no `specialized` line; the `stop` line implies it. */
bool specialization_known(const struct code *code)
{
	return code->final || code->process->stopped;
}

enum specialized specialized_of(const struct code *code, const struct instr *instr)
{
	if (instr->adaptive != instr->base)
		return SPECIALIZED_YES;
	if (!code->process->ables)
		return SPECIALIZED_UNKNOWN;
	return code->process->able[instr->base] ? SPECIALIZED_NOT : SPECIALIZED_NEVER_CAN;
}

static void add(struct specialization *s, const struct code *code, const struct instr *instr)
{
	bool first = instr->first != instr->base, last = instr->adaptive != instr->base;

	s->able += code->process->able[instr->base] || first || last;
	s->first += first;
	if (!s->known)
		return;
	s->specialized += last;
	s->base += specialized_of(code, instr) == SPECIALIZED_NOT;
	s->gained += last && !first;
	s->lost += first && !last;
	s->changed += first && last && instr->first != instr->adaptive;
}

struct specialization specialization_of(const struct code *code)
{
	struct specialization s = {
		.known = specialization_known(code),
		.instructions = code->ninstrs,
	};

	for (uint32_t i = 0; i < code->ninstrs; i++)
		add(&s, code, &code->instrs[i]);
	return s;
}

void specialization_join(struct specialization *to, const struct specialization *more)
{
	to->instructions += more->instructions;
	to->able += more->able;
	to->specialized += more->specialized;
	to->base += more->base;
	to->first += more->first;
	to->gained += more->gained;
	to->lost += more->lost;
	to->changed += more->changed;
}
