/* SPDX-License-Identifier: MIT */
/* copies.c - see copies.h. */
#include "copies.h"

#include <errno.h>
#include <stdlib.h>

#include "shared/array.h"
#include "specialization.h"

static struct copy *find(const struct code *code, uint32_t number)
{
	for (uint32_t i = 0; i < code->ncopies; i++)
		if (code->copies[i].number == number)
			return &code->copies[i];
	return NULL;
}

struct copy *copies_get(struct code *code, uint32_t number)
{
	struct copy *copy = find(code, number);

	if (copy)
		return copy;
	if (!ARRAY_ONE_MORE(code->copies, code->ncopies))
		return NULL;
	copy = &code->copies[code->ncopies];
	*copy = (struct copy){ number, malloc(code->ninstrs + 1) };
	if (!copy->forms)
		return NULL;
	code->ncopies++;
	for (uint32_t i = 0; i < code->ninstrs; i++)
		copy->forms[i] = code->instrs[i].base;
	return copy;
}

void copies_set(struct code *code, struct copy *copy, uint32_t i, uint8_t form)
{
	struct instr *in = &code->instrs[i];

	copy->forms[i] = form;
	if (in->adaptive == in->base || copies_having(code, i, form) > copies_having(code, i, in->adaptive))
		in->adaptive = form;
}

void copies_clear(struct code *code)
{
	while (code->ncopies)
		free(code->copies[--code->ncopies].forms);
	free(code->copies);
	code->copies = NULL;
}

uint32_t copies_having(const struct code *code, uint32_t i, uint8_t form)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < code->ncopies; c++)
		n += code->copies[c].forms[i] == form;
	return n;
}

struct copy_state copies_state(const struct code *code, const struct copy *copy)
{
	struct copy_state s = { 0 };

	for (uint32_t i = 0; i < code->ninstrs; i++) {
		struct instr in = code->instrs[i];

		in.adaptive = copy->forms[i];
		s.specialized += in.adaptive != in.base;
		s.base += specialized_of(code, &in) == SPECIALIZED_NOT;
	}
	return s;
}

uint32_t copies_differ(const struct code *code, uint32_t i)
{
	while (i < code->ninstrs &&
	       (!code->ncopies || copies_having(code, i, code->copies[0].forms[i]) == code->ncopies))
		i++;
	return i;
}

int copies_add_thread(struct process *p, uint32_t tid, uint32_t number)
{
	if (!ARRAY_ONE_MORE(p->copiers, p->ncopiers))
		return -ENOMEM;
	p->copiers[p->ncopiers++] = (struct copier){ tid, number };
	return 0;
}
