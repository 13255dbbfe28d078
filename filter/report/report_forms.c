// SPDX-License-Identifier: MIT
/* Specialisation over time: a table by time, and the instructions that the specializer was called for most often. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"
#include "report_write.h"

#define ROWS	     16 /* of time; divides FORMS_BUCKETS */
#define INSTRUCTIONS 10

static void write_counts(const struct report *r, const struct form_counts *c)
{
	for (int i = 0; i < FORMS_COUNTS; i++)
		write_number(r, c->n[i]);
}

static void write_times(const struct report *r, const struct forms *f)
{
	unsigned each = (f->used + ROWS - 1) / ROWS;

	for (unsigned i = 0; i < f->used; i += each) {
		struct form_counts c = { 0 };

		for (unsigned k = i; k < i + each && k < f->used; k++)
			for (int n = 0; n < FORMS_COUNTS; n++)
				c.n[n] += f->buckets[k].n[n];
		write_duration(r, f->start_ns - r->p->start_ns + ((uint64_t)i << f->shift));
		write_counts(r, &c);
		fputc('\n', r->f);
	}
}

struct row {
	const struct code *code;
	uint32_t i;
	struct form_counts c;
};

/* How often CPython's specialiser was called again. */
static uint64_t weight(const struct row *row)
{
	return row->c.n[FORMS_MISSED] + row->c.n[FORMS_CHANGED] + row->c.n[FORMS_LOST] + row->c.n[FORMS_FAILED];
}

/* Keeps the largest; among equals the first. */
static void keep(struct row rows[INSTRUCTIONS], unsigned *n, struct row row)
{
	unsigned to = *n;

	while (to && weight(&rows[to - 1]) < weight(&row))
		to--;
	if (to == INSTRUCTIONS)
		return;
	*n += *n < INSTRUCTIONS;
	for (unsigned i = *n - 1; i > to; i--)
		rows[i] = rows[i - 1];
	rows[to] = row;
}

static unsigned choose(struct row rows[INSTRUCTIONS], struct code *const *all, size_t n, size_t *changed)
{
	unsigned kept = 0;

	*changed = 0;
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; all[k]->function->costs && i < all[k]->ninstrs; i++) {
			struct row row = { all[k], i, forms_of(&all[k]->function->costs[i]) };

			if (!forms_changed(&row.c))
				continue;
			++*changed;
			keep(rows, &kept, row);
		}
	return kept;
}

static void write_row(const struct report *r, const struct row *row)
{
	const struct instr *instr = &row->code->instrs[row->i];

	fprintf(r->f, "%11s", "");
	write_counts(r, &row->c);
	fprintf(r->f, "\n%13s", "");
	write_form(r, process_opname(row->code->process, instr->base), NULL);
	fprintf(r->f, " at %" PRIu32, instr->offset);
	write_place(r, row->code, instr->line > 0 ? instr->line : row->code->firstlineno, SAMPLE_NOWHERE, 45);
}

int report_forms(const struct report *r)
{
	struct form_counts sum = forms_sum(&r->p->forms);
	struct row rows[INSTRUCTIONS];
	size_t n = 0, changed;
	struct code **all;
	unsigned kept;

	if (!r->p->forms.known)
		return 0;
	all = profile_functions(r->p, &n, RANK_TIME);
	if (!all)
		return -ENOMEM;
	write_title(r, "Specialization over time: runs of instructions that can specialize, and changes");
	fputs("       from special   base gained change   lost failed missed\n", r->f);
	write_times(r, &r->p->forms);
	fputs("        all", r->f);
	write_counts(r, &sum);
	fputs("\nmissed: a lower bound; a miss shows only when the specializer is called again\n", r->f);
	kept = choose(rows, all, n, &changed);
	for (unsigned i = 0; i < kept; i++)
		write_row(r, &rows[i]);
	if (changed > kept)
		fprintf(r->f, "and %zu more (summary)\n", changed - kept);
	free(all);
	return 0;
}
