// SPDX-License-Identifier: MIT
#include "forms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NARROWEST 10 /* as a shift: about a microsecond */

const char *const forms_names[FORMS_COUNTS] = {
	[FORMS_SPECIALIZED] = "specialized", [FORMS_BASE] = "base", [FORMS_GAINED] = "gained",
	[FORMS_CHANGED] = "changed",	     [FORMS_LOST] = "lost", [FORMS_FAILED] = "failed",
	[FORMS_MISSED] = "missed",
};

enum form_kind form_kind(const struct code *code, const struct instr *instr, uint8_t opcode)
{
	static const char instrumented[] = "INSTRUMENTED_";

	if (!code->process->able[instr->base])
		return FORM_OTHER;
	if (opcode == instr->base)
		return FORM_BASE;
	return strncmp(process_opname(code->process, opcode), instrumented, strlen(instrumented)) ? FORM_SPECIAL
												  : FORM_OTHER;
}

static void add(struct form_counts *to, const struct form_counts *c)
{
	for (int i = 0; i < FORMS_COUNTS; i++)
		to->n[i] += c->n[i];
}

/* Two buckets become one. */
static void widen(struct forms *f)
{
	for (unsigned i = 0; i < FORMS_BUCKETS / 2; i++) {
		struct form_counts both = f->buckets[2 * i];

		add(&both, &f->buckets[2 * i + 1]);
		f->buckets[i] = both;
	}
	memset(f->buckets + FORMS_BUCKETS / 2, 0, sizeof(f->buckets) / 2);
	f->used = (f->used + 1) / 2;
	f->shift++;
}

static struct form_counts *bucket_at(struct forms *f, uint64_t ns)
{
	uint64_t since;

	if (!f->known) {
		f->known = true;
		f->start_ns = ns;
		f->shift = NARROWEST;
	}
	since = ns > f->start_ns ? ns - f->start_ns : 0;
	while (since >> f->shift >= FORMS_BUCKETS)
		widen(f);
	if (since >> f->shift >= f->used)
		f->used = (since >> f->shift) + 1;
	return &f->buckets[since >> f->shift];
}

/* What a change from one kind to another means. FORMS_COUNTS: nothing. */
static enum form_count change(enum form_kind was, enum form_kind is, bool asked)
{
	if (was == FORM_BASE && is == FORM_SPECIAL)
		return FORMS_GAINED;
	if (was == FORM_SPECIAL && is == FORM_BASE)
		return FORMS_LOST;
	if (was == FORM_SPECIAL && is == FORM_SPECIAL)
		return FORMS_CHANGED;
	return was == FORM_BASE && is == FORM_BASE && asked ? FORMS_FAILED : FORMS_COUNTS;
}

static void count(struct form_counts *bucket, struct form_counts *own, enum form_count what)
{
	if (what == FORMS_COUNTS)
		return;
	bucket->n[what]++;
	own->n[what]++;
}

/* From the form it last ran in to the one it began in, and on to the one it ended in. */
static void count_changes(struct form_counts *bucket, struct instr_cost *cost, const struct instr *instr,
			  const struct sample *s)
{
	uint8_t first = s->before ? s->before : s->opcode;
	enum form_kind was = cost->last_form ? form_kind(s->code, instr, cost->last_form) : FORM_OTHER;
	enum form_kind began = form_kind(s->code, instr, first);

	if (first != cost->last_form)
		count(bucket, cost->changes, change(was, began, false));
	if (!s->before)
		return;
	if (began == FORM_SPECIAL)
		count(bucket, cost->changes, FORMS_MISSED);
	if (!s->passed)
		count(bucket, cost->changes, change(began, form_kind(s->code, instr, s->opcode), true));
}

int forms_ran(struct forms *f, const struct instr *instr, struct instr_cost *cost, const struct instr_form *form,
	      const struct sample *s)
{
	struct form_counts *bucket;

	if (form->kind == FORM_OTHER)
		return 0;
	bucket = bucket_at(f, s->time);
	bucket->n[form->kind == FORM_SPECIAL ? FORMS_SPECIALIZED : FORMS_BASE]++;
	if (s->opcode == cost->last_form && !s->before)
		return 0;
	if ((cost->last_form || s->before) && !cost->changes && !(cost->changes = calloc(1, sizeof(*cost->changes))))
		return -ENOMEM;
	if (cost->changes)
		count_changes(bucket, cost, instr, s);
	cost->last_form = s->opcode;
	return 0;
}

struct form_counts forms_of(const struct instr_cost *cost)
{
	struct form_counts c = cost->changes ? *cost->changes : (struct form_counts){ 0 };

	for (uint32_t i = 0; i < cost->nforms; i++)
		if (cost->forms[i].kind != FORM_OTHER)
			c.n[cost->forms[i].kind == FORM_SPECIAL ? FORMS_SPECIALIZED : FORMS_BASE] += cost->forms[i].n;
	return c;
}

struct form_counts forms_sum(const struct forms *f)
{
	struct form_counts sum = { 0 };

	for (unsigned i = 0; i < f->used; i++)
		add(&sum, &f->buckets[i]);
	return sum;
}

bool forms_changed(const struct form_counts *c)
{
	return c->n[FORMS_CHANGED] || c->n[FORMS_LOST] || c->n[FORMS_FAILED] || c->n[FORMS_MISSED] ||
	       c->n[FORMS_GAINED] > 1;
}
